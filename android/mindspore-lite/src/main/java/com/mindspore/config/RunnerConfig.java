package com.mindspore.config;

import com.mindspore.MindSporeException;
import com.mindspore.NativeHandle;
import java.util.ArrayList;
import java.util.HashMap;

/** Settings of a {@link com.mindspore.ModelParallelRunner}. They must be initialized. */
public class RunnerConfig extends NativeHandle {
  public RunnerConfig() {
    super(0, true);
  }

  /** Initializes the settings with default threads and devices. */
  public boolean init() {
    return attempt(() -> replace(nativeCreate(0)));
  }

  public boolean init(MSContext msContext) {
    return attempt(() -> replace(nativeCreate(contextOf(given(msContext, "the context")))));
  }

  private static long contextOf(MSContext context) {
    long handle = context.getMSContextPtr();
    if (handle == MindsporeLite.POINTER_DEFAULT_VALUE) {
      throw new MindSporeException(MindSporeException.UNINITIALIZED, "the context is not initialized");
    }
    return handle;
  }

  // Before init(), setters only store an error for getLastError().

  /** Sets the number of workers; 0: the available cores divided by the threads of one worker. */
  public void setWorkersNum(int workersNum) {
    attempt(() -> nativeSetWorkersNum(handle(), workersNum));
  }

  /** -1 before {@link #init()}. */
  public int getWorkersNum() {
    return attempt(() -> nativeGetWorkersNum(handle()), -1);
  }

  public void setConfigInfo(String section, HashMap<String, String> config) {
    attempt(
        () -> {
          byte[] name = utf8(section, "the section");
          byte[][] settings = new byte[2 * given(config, "the configuration").size()][];
          int count = 0;
          for (HashMap.Entry<String, String> setting : config.entrySet()) {
            settings[count++] = utf8(setting.getKey(), "a key");
            settings[count++] = utf8(setting.getValue(), "a value");
          }
          nativeSetConfigInfo(handle(), name, settings);
        });
  }

  public void setConfigPath(String configPath) {
    attempt(() -> nativeSetConfigPath(handle(), utf8(configPath, "the path")));
  }

  /** Empty before {@link #init()}. */
  public String getConfigPath() {
    return attempt(() -> text(nativeGetConfigPath(handle())), "");
  }

  public void setDeviceIds(ArrayList<Integer> deviceIds) {
    attempt(() -> nativeSetDeviceIds(handle(), Lists.toArray(deviceIds, "the list of devices")));
  }

  /** Empty before {@link #init()}. */
  public ArrayList<Integer> getDeviceIds() {
    return Lists.toList(attempt(() -> nativeGetDeviceIds(handle()), new int[0]));
  }

  /** Returns the handle of the native configuration; 0 before {@link #init()}. */
  public long getRunnerConfigPtr() {
    return handleOrNone();
  }

  // `context` 0: none.
  private static native long nativeCreate(long context);

  private native void nativeSetWorkersNum(long config, int workers);

  private native int nativeGetWorkersNum(long config);

  // `settings`: alternating keys and values.
  private native void nativeSetConfigInfo(long config, byte[] section, byte[][] settings);

  private native void nativeSetConfigPath(long config, byte[] path);

  private native byte[] nativeGetConfigPath(long config);

  private native void nativeSetDeviceIds(long config, int[] ids);

  private native int[] nativeGetDeviceIds(long config);
}
