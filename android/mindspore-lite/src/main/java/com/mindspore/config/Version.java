package com.mindspore.config;

import java.nio.charset.StandardCharsets;

/** The version of the native library. */
public class Version {
  static {
    NativeLibrary.load();
  }

  private Version() {}

  /** "MindSpore Lite x.y.z", followed by mslite's own version. */
  public static String version() {
    return new String(nativeVersion(), StandardCharsets.UTF_8);
  }

  private static native byte[] nativeVersion();
}
