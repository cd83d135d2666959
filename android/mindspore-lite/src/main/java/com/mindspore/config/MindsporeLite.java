package com.mindspore.config;

import com.mindspore.MindSporeException;

/** Functions of the whole library. */
public class MindsporeLite {
  /** The handle value of no object. */
  public static final long POINTER_DEFAULT_VALUE = 0;

  private static final ThreadLocal<String> LAST_ERROR = ThreadLocal.withInitial(() -> "");

  private MindsporeLite() {}

  /** Loads the native library. All classes of the API call this. */
  public static void init() {
    NativeLibrary.load();
  }

  /**
   * Returns the reason of the last failed call of this thread that did not throw, including static methods; empty if
   * there is none.
   */
  public static String getLastError() {
    return LAST_ERROR.get();
  }

  /** Stores the reason of a failure for {@link #getLastError()} and returns it. */
  public static String remember(MindSporeException failure) {
    LAST_ERROR.set(failure.getMessage());
    return failure.getMessage();
  }
}
