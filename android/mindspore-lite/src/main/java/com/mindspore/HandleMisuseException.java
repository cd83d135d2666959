package com.mindspore;

/** Thrown if an object is used after {@code free()}, freed twice, or changed while a run uses it. */
public final class HandleMisuseException extends MindSporeException {
  private static final long serialVersionUID = 1L;

  public HandleMisuseException(int code, String message) {
    super(code, message);
  }

  /** Called by the native library. */
  HandleMisuseException(int code, byte[] message) {
    super(code, message);
  }
}
