package com.mindspore.config;

import com.mindspore.NativeHandle;

/** Settings of training. A model that is built with them can be trained. */
public class TrainCfg extends NativeHandle {
  public TrainCfg() {
    super(0, true);
  }

  /**
   * Initializes: losses are nodes with {@code loss_fct}, {@code _loss_fn} or {@code SigmoidCrossEntropy} in their name.
   */
  public boolean init() {
    return attempt(() -> create(null));
  }

  /** Initializes: losses are nodes with the given text in their name. */
  public boolean init(String lossName) {
    return attempt(() -> create(utf8(lossName, "the name of the loss")));
  }

  private void create(byte[] lossName) {
    replace(nativeCreate(lossName));
  }

  /**
   * Enables mixed precision with loss scaling, if the context enables float16 ({@code addDeviceInfo(DT_CPU, true)}) and
   * the processor supports it.
   */
  public boolean addMixPrecisionCfg(boolean dynamicLossScale, float lossScale, int thresholdIterNum) {
    return attempt(() -> nativeAddMixPrecision(handle(), dynamicLossScale, lossScale, thresholdIterNum));
  }

  /**
   * Sets whether gradients are kept until the next step (default: true). If false, the memory of each gradient is
   * reused after its weight has been updated; losses and weights are the same. mslite extension.
   */
  public boolean setKeepGradients(boolean keepGradients) {
    return attempt(() -> nativeSetKeepGradients(handle(), keepGradients));
  }

  /** Returns the handle of the native configuration; 0 before {@link #init()}. It is owned by this object. */
  public long getTrainCfgPtr() {
    return handleOrNone();
  }

  private static native long nativeCreate(byte[] lossName);

  private native void nativeAddMixPrecision(long config, boolean isDynamic, float scale, int threshold);

  private native void nativeSetKeepGradients(long config, boolean keepGradients);
}
