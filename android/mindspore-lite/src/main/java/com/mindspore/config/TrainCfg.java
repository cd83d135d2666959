package com.mindspore.config;

import com.mindspore.NativeHandle;

/** Settings of training, which a model is built with that is to learn. */
public class TrainCfg extends NativeHandle {
  public TrainCfg() {
    super(0, true);
  }

  /** The loss is the node whose name contains {@code loss_fct}, {@code _loss_fn} or {@code SigmoidCrossEntropy}. */
  public boolean init() {
    return attempt(() -> create(null));
  }

  /** The loss is the node whose name contains the given text. */
  public boolean init(String lossName) {
    return attempt(() -> create(utf8(lossName, "the name of the loss")));
  }

  private void create(byte[] lossName) {
    replace(nativeCreate(lossName));
  }

  /**
   * Trains in mixed precision where the context asks for float16 ({@code addDeviceInfo(DT_CPU, true)}) and the
   * processor computes in it, with gradients scaled like this.
   */
  public boolean addMixPrecisionCfg(boolean dynamicLossScale, float lossScale, int thresholdIterNum) {
    return attempt(() -> nativeAddMixPrecision(handle(), dynamicLossScale, lossScale, thresholdIterNum));
  }

  /**
   * Whether gradients are kept until the next step, as they are unless this says otherwise, or each gives up its memory
   * when its weight has been updated. Losses and weights are the same. Beyond MindSpore Lite.
   */
  public boolean setKeepGradients(boolean keepGradients) {
    return attempt(() -> nativeSetKeepGradients(handle(), keepGradients));
  }

  /** The number of the native configuration; 0 before {@link #init()}. It stays this object's after a build. */
  public long getTrainCfgPtr() {
    return handleOrNone();
  }

  private static native long nativeCreate(byte[] lossName);

  private native void nativeAddMixPrecision(long config, boolean isDynamic, float scale, int threshold);

  private native void nativeSetKeepGradients(long config, boolean keepGradients);
}
