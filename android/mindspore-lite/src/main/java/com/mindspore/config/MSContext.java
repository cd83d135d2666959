package com.mindspore.config;

import com.mindspore.MindSporeException;
import com.mindspore.NativeHandle;
import java.util.ArrayList;

/** Where and how a model runs. It has to be initialized, and needs at least one device. */
public class MSContext extends NativeHandle {
  private static final int DEFAULT_THREADS = 2;
  private static final int DEFAULT_FREQUENCY = 3;

  public MSContext() {
    super(0, true);
  }

  /** Two threads, not bound to cores, no devices in parallel. */
  public boolean init() {
    return init(DEFAULT_THREADS, CpuBindMode.NO_BIND, false);
  }

  public boolean init(int threadNum, int cpuBindMode) {
    return init(threadNum, cpuBindMode, false);
  }

  /**
   * @param threadNum of one operator; 0: chosen when the model is built
   * @param cpuBindMode a constant of {@link CpuBindMode}
   * @return false when that fails; {@link #getLastError()} says why
   */
  public boolean init(int threadNum, int cpuBindMode, boolean isEnableParallel) {
    return attempt(
        () -> {
          if (threadNum < 0) {
            throw new MindSporeException(MindSporeException.PARAM_INVALID, threadNum + " threads are not possible");
          }
          if (cpuBindMode < CpuBindMode.NO_BIND || cpuBindMode > CpuBindMode.MID_CPU) {
            throw new MindSporeException(MindSporeException.PARAM_INVALID, cpuBindMode + " is no CpuBindMode");
          }
          replace(nativeCreate(threadNum, cpuBindMode, isEnableParallel));
        });
  }

  public boolean addDeviceInfo(int deviceType, boolean isEnableFloat16) {
    return addDeviceInfo(deviceType, isEnableFloat16, DEFAULT_FREQUENCY);
  }

  /**
   * Adds a device, in the order of preference. The build refuses devices that this library does not have.
   *
   * @param deviceType a constant of {@link DeviceType}
   * @param npuFreq of an NPU only: 1 (low) to 4 (extreme)
   * @return false when that fails; {@link #getLastError()} says why
   */
  public boolean addDeviceInfo(int deviceType, boolean isEnableFloat16, int npuFreq) {
    return attempt(() -> nativeAddDevice(handle(), deviceType, isEnableFloat16, npuFreq));
  }

  public boolean addDeviceInfo(AscendDeviceInfo ascendDeviceInfo) {
    return attempt(
        () ->
            nativeAddAscend(
                handle(), given(ascendDeviceInfo, "the device").getDeviceID(), ascendDeviceInfo.getRankID(),
                utf8(ascendDeviceInfo.getPrecisionMode(), "the precision mode"),
                utf8(ascendDeviceInfo.getProvider(), "the provider")));
  }

  /** The number of the native context; 0 before {@link #init()}. */
  public long getMSContextPtr() {
    return handleOrNone();
  }

  // Setters before init() do nothing but keep the reason for getLastError().

  public void setThreadNum(int threadNum) {
    attempt(() -> nativeSetThreadNum(handle(), threadNum));
  }

  /** -1 before {@link #init()}. */
  public int getThreadNum() {
    return attempt(() -> nativeGetThreadNum(handle()), -1);
  }

  public void setInterOpParallelNum(int parallelNum) {
    attempt(() -> nativeSetInterOpParallelNum(handle(), parallelNum));
  }

  /** -1 before {@link #init()}. */
  public int getInterOpParallelNum() {
    return attempt(() -> nativeGetInterOpParallelNum(handle()), -1);
  }

  /** Binds threads as a constant of {@link CpuBindMode} says. */
  public void setThreadAffinity(int mode) {
    attempt(() -> nativeSetAffinityMode(handle(), mode));
  }

  /** -1 before {@link #init()}. */
  public int getThreadAffinityMode() {
    return attempt(() -> nativeGetAffinityMode(handle()), -1);
  }

  /** Binds threads to these cores; wins over the mode. */
  public void setThreadAffinity(ArrayList<Integer> coreList) {
    attempt(() -> nativeSetAffinityCores(handle(), Lists.toArray(coreList, "the list of cores")));
  }

  /** Empty before {@link #init()}. */
  public ArrayList<Integer> getThreadAffinityCoreList() {
    return Lists.toList(attempt(() -> nativeGetAffinityCores(handle()), new int[0]));
  }

  public void setEnableParallel(boolean isParallel) {
    attempt(() -> nativeSetEnableParallel(handle(), isParallel));
  }

  /** False before {@link #init()}. */
  public boolean getEnableParallel() {
    return attempt(() -> nativeGetEnableParallel(handle()), false);
  }

  private static native long nativeCreate(int threads, int bindMode, boolean isParallel);

  private native void nativeAddDevice(long context, int type, boolean enableFp16, int frequency);

  private native void nativeAddAscend(long context, int device, int rank, byte[] precision, byte[] provider);

  private native void nativeSetThreadNum(long context, int threads);

  private native int nativeGetThreadNum(long context);

  private native void nativeSetInterOpParallelNum(long context, int number);

  private native int nativeGetInterOpParallelNum(long context);

  private native void nativeSetAffinityMode(long context, int mode);

  private native int nativeGetAffinityMode(long context);

  private native void nativeSetAffinityCores(long context, int[] cores);

  private native int[] nativeGetAffinityCores(long context);

  private native void nativeSetEnableParallel(long context, boolean isParallel);

  private native boolean nativeGetEnableParallel(long context);
}
