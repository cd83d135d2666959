package com.mindspore.config;

import com.mindspore.NativeHandle;

/** Settings of training. A model built with them is refused: this library does not train. */
public class TrainCfg extends NativeHandle {
  public TrainCfg() {
    super(0, true);
  }

  public boolean init() {
    return attempt(() -> replace(nativeCreate(null)));
  }

  public boolean init(String lossName) {
    return attempt(() -> replace(nativeCreate(utf8(lossName, "the name of the loss"))));
  }

  public boolean addMixPrecisionCfg(boolean dynamicLossScale, float lossScale, int thresholdIterNum) {
    return attempt(() -> nativeAddMixPrecision(handle(), dynamicLossScale, lossScale, thresholdIterNum));
  }

  /** The number of the native configuration; 0 before {@link #init()}. It stays this object's after a build. */
  public long getTrainCfgPtr() {
    return handleOrNone();
  }

  private static native long nativeCreate(byte[] lossName);

  private native void nativeAddMixPrecision(long config, boolean isDynamic, float scale, int threshold);
}
