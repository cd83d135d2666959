package com.mindspore.config;

import com.mindspore.MindSporeException;
import com.mindspore.NativeHandle;
import java.util.ArrayList;

/** The devices and threads of a model. A context must be initialized and needs at least one device. */
public class MSContext extends NativeHandle {
  private static final int DEFAULT_THREADS = 2;
  private static final int DEFAULT_FREQUENCY = 3;

  public MSContext() {
    super(0, true);
  }

  /** Initializes the context with two threads that are not bound to cores, without parallel devices. */
  public boolean init() {
    return init(DEFAULT_THREADS, CpuBindMode.NO_BIND, false);
  }

  public boolean init(int threadNum, int cpuBindMode) {
    return init(threadNum, cpuBindMode, false);
  }

  /**
   * Initializes the context.
   *
   * @param threadNum number of threads of one operator; 0: chosen when the model is built
   * @param cpuBindMode a constant of {@link CpuBindMode}
   * @return false on failure; {@link #getLastError()} returns the reason
   */
  public boolean init(int threadNum, int cpuBindMode, boolean isEnableParallel) {
    return attempt(
        () -> {
          if (threadNum < 0) {
            throw new MindSporeException(MindSporeException.PARAM_INVALID, threadNum + " threads is not valid");
          }
          if (cpuBindMode < CpuBindMode.NO_BIND || cpuBindMode > CpuBindMode.MID_CPU) {
            throw new MindSporeException(MindSporeException.PARAM_INVALID, cpuBindMode + " is not a CpuBindMode");
          }
          replace(nativeCreate(threadNum, cpuBindMode, isEnableParallel));
        });
  }

  public boolean addDeviceInfo(int deviceType, boolean isEnableFloat16) {
    return addDeviceInfo(deviceType, isEnableFloat16, DEFAULT_FREQUENCY);
  }

  /**
   * Adds a device, in the order of preference.
   *
   * @param deviceType a constant of {@link DeviceType}
   * @param npuFreq only for an NPU: 1 (low) to 4 (extreme)
   * @return false on failure; {@link #getLastError()} returns the reason
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

  /** Returns the handle of the native context; 0 before {@link #init()}. */
  public long getMSContextPtr() {
    return handleOrNone();
  }

  // Before init(), setters only store an error for getLastError().

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

  /** Sets how threads are bound to cores, a constant of {@link CpuBindMode}. */
  public void setThreadAffinity(int mode) {
    attempt(() -> nativeSetAffinityMode(handle(), mode));
  }

  /** -1 before {@link #init()}. */
  public int getThreadAffinityMode() {
    return attempt(() -> nativeGetAffinityMode(handle()), -1);
  }

  /** Binds threads to these cores. It takes precedence over the mode. */
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
