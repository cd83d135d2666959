package com.mindspore.config;

/** Devices for {@link MSContext#addDeviceInfo(int, boolean)}. This library runs models on the CPU. */
public class DeviceType {
  public static final int DT_CPU = 0;
  public static final int DT_GPU = 1;
  public static final int DT_NPU = 2;
  public static final int DT_ASCEND = 3;

  private DeviceType() {}
}
