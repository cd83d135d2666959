package com.mindspore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Conversion of byte buffers for the native library. */
final class Buffers {
  private Buffers() {}

  /** Returns the bytes from position to limit as a direct buffer: the same memory, or a copy of a Java array. */
  static ByteBuffer direct(ByteBuffer buffer) {
    if (buffer.isDirect()) {
      return buffer.slice();
    }
    ByteBuffer copy = ByteBuffer.allocateDirect(buffer.remaining());
    copy.put(buffer.duplicate());
    return copy;
  }

  /** Returns a new direct buffer in the byte order of the machine. */
  static ByteBuffer allocate(long bytes) {
    return ByteBuffer.allocateDirect(capacity(bytes)).order(ByteOrder.nativeOrder());
  }

  /** Converts a size to the int capacity of a ByteBuffer. */
  static int capacity(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new MindSporeException(
          MindSporeException.MEMORY_FAILED, bytes + " bytes exceed the maximum size of a Java ByteBuffer");
    }
    return (int) bytes;
  }
}
