package com.mindspore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Byte buffers as the native library takes them. */
final class Buffers {
  private Buffers() {}

  /** The bytes from position to limit as a direct buffer: the same memory, or a copy of a Java array. */
  static ByteBuffer direct(ByteBuffer buffer) {
    if (buffer.isDirect()) {
      return buffer.slice();
    }
    ByteBuffer copy = ByteBuffer.allocateDirect(buffer.remaining());
    copy.put(buffer.duplicate());
    return copy;
  }

  /** A direct buffer for numbers in the machine's byte order. */
  static ByteBuffer allocate(long bytes) {
    return ByteBuffer.allocateDirect(capacity(bytes)).order(ByteOrder.nativeOrder());
  }

  /** A size as Java's buffers have it. */
  static int capacity(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new MindSporeException(
          MindSporeException.MEMORY_FAILED, bytes + " bytes are more than a ByteBuffer of Java holds");
    }
    return (int) bytes;
  }
}
