package com.mindspore.config;

/** Types of model files. This library reads {@code .ms} files: MT_MINDIR_LITE or MT_MINDIR. */
public class ModelType {
  public static final int MT_MINDIR = 0;
  public static final int MT_AIR = 1;
  public static final int MT_OM = 2;
  public static final int MT_ONNX = 3;
  public static final int MT_MINDIR_LITE = 4;
  public static final int MT_MINDIR_OPT = MT_MINDIR_LITE;

  private ModelType() {}
}
