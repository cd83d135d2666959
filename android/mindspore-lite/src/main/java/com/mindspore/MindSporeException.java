package com.mindspore;

import java.nio.charset.StandardCharsets;

/**
 * The reason of a failed call: a code and a message. Codes are those of the C++ {@code StatusCode} as signed values.
 */
public class MindSporeException extends RuntimeException {
  /** An error without a specific code. */
  public static final int ERROR = -1;

  /** An argument is null. */
  public static final int NULL_POINTER = -2;

  /** An argument is invalid. */
  public static final int PARAM_INVALID = -3;

  /** Memory is exhausted. */
  public static final int MEMORY_FAILED = -6;

  /** The function or setting is not supported. */
  public static final int NOT_SUPPORTED = -7;

  /** The object is not built, not initialized, or freed. */
  public static final int UNINITIALIZED = -9;

  /** A file cannot be read. */
  public static final int FILE_ERROR = -10;

  /** The model is already built. */
  public static final int MODEL_REBUILD = -12;

  /** A run uses the object. */
  public static final int REENTRANT = -102;

  private static final long serialVersionUID = 1L;

  private final int code;

  /**
   * @param code one of the constants above, or another of C++'s {@code StatusCode}
   * @param message the reason
   */
  public MindSporeException(int code, String message) {
    super(message);
    this.code = code;
  }

  /** Called by the native library. */
  MindSporeException(int code, byte[] message) {
    this(code, new String(message, StandardCharsets.UTF_8));
  }

  /** Returns the code, which is never 0. */
  public int getCode() {
    return code;
  }
}
