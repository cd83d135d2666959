package com.mindspore;

import com.mindspore.config.DataType;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Type, shape and bytes of a Java array, which may have several dimensions, or of a boxed scalar. */
final class ArrayContents {
  final int dataType;
  final int[] shape;
  final ByteBuffer data;

  private ArrayContents(int dataType, int[] shape, ByteBuffer data) {
    this.dataType = dataType;
    this.shape = shape;
    this.data = data;
  }

  static ArrayContents of(Object array) {
    int rank = 0;
    Class<?> element = array.getClass();
    for (; element.isArray(); element = element.getComponentType()) {
      ++rank;
    }
    int type = typeOf(element);
    int[] shape = shapeOf(array, rank);
    long bytes = elementSize(type);
    for (int size : shape) {
      bytes = size == 0 ? 0 : Buffers.capacity(bytes) * (long) size;
    }
    ByteBuffer data = Buffers.allocate(bytes);
    put(array, shape, 0, data);
    data.rewind();
    return new ArrayContents(type, shape, data);
  }

  private static int typeOf(Class<?> element) {
    if (element == float.class || element == Float.class) {
      return DataType.kNumberTypeFloat32;
    } else if (element == double.class || element == Double.class) {
      return DataType.kNumberTypeFloat64;
    } else if (element == int.class || element == Integer.class) {
      return DataType.kNumberTypeInt32;
    } else if (element == long.class || element == Long.class) {
      return DataType.kNumberTypeInt64;
    } else if (element == boolean.class || element == Boolean.class) {
      return DataType.kNumberTypeBool;
    }
    throw invalid(
        "a tensor can be created from float, double, int, long or boolean, not from " + element.getSimpleName());
  }

  private static int elementSize(int type) {
    switch (type) {
      case DataType.kNumberTypeBool:
        return 1;
      case DataType.kNumberTypeFloat64:
      case DataType.kNumberTypeInt64:
        return 8;
      default:
        return 4;
    }
  }

  private static int[] shapeOf(Object array, int rank) {
    int[] shape = new int[rank];
    Object part = array;
    for (int i = 0; i < rank; ++i) {
      if (part == null) {
        throw invalid("the array contains null");
      }
      shape[i] = Array.getLength(part);
      if (shape[i] == 0) {
        throw invalid("the array is empty in dimension " + i);
      }
      part = Array.get(part, 0);
    }
    return shape;
  }

  private static void put(Object part, int[] shape, int depth, ByteBuffer data) {
    if (part == null) {
      throw invalid("the array contains null");
    }
    if (depth == shape.length) {
      putScalar(part, data);
      return;
    }
    if (Array.getLength(part) != shape[depth]) {
      throw invalid(
          "the array is not rectangular: " + Array.getLength(part) + " elements in dimension " + depth + " of shape "
              + Arrays.toString(shape));
    }
    if (part instanceof float[]) {
      data.asFloatBuffer().put((float[]) part);
      skip(data, 4L * shape[depth]);
    } else if (part instanceof double[]) {
      data.asDoubleBuffer().put((double[]) part);
      skip(data, 8L * shape[depth]);
    } else if (part instanceof int[]) {
      data.asIntBuffer().put((int[]) part);
      skip(data, 4L * shape[depth]);
    } else if (part instanceof long[]) {
      data.asLongBuffer().put((long[]) part);
      skip(data, 8L * shape[depth]);
    } else {
      for (int i = 0; i < shape[depth]; ++i) {
        put(Array.get(part, i), shape, depth + 1, data);
      }
    }
  }

  private static void putScalar(Object value, ByteBuffer data) {
    if (value instanceof Float) {
      data.putFloat((Float) value);
    } else if (value instanceof Double) {
      data.putDouble((Double) value);
    } else if (value instanceof Integer) {
      data.putInt((Integer) value);
    } else if (value instanceof Long) {
      data.putLong((Long) value);
    } else {
      data.put((byte) ((Boolean) value ? 1 : 0));
    }
  }

  private static void skip(ByteBuffer data, long bytes) {
    data.position(data.position() + (int) bytes);
  }

  private static MindSporeException invalid(String reason) {
    return new MindSporeException(MindSporeException.PARAM_INVALID, reason);
  }
}
