package com.mindspore.config;

import com.mindspore.MindSporeException;

/** The library as a whole. */
public class MindsporeLite {
  /** The number of an object that there is not. */
  public static final long POINTER_DEFAULT_VALUE = 0;

  private static final ThreadLocal<String> LAST_ERROR = ThreadLocal.withInitial(() -> "");

  private MindsporeLite() {}

  /** Loads the native library. Every class of the API does so itself. */
  public static void init() {
    NativeLibrary.load();
  }

  /** Why the last call of this thread failed that says so by its result, static ones included; empty when none has. */
  public static String getLastError() {
    return LAST_ERROR.get();
  }

  /** Keeps the reason of a failure for {@link #getLastError()}, and returns it. */
  public static String remember(MindSporeException failure) {
    LAST_ERROR.set(failure.getMessage());
    return failure.getMessage();
  }
}
