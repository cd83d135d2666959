package com.mindspore;

import com.mindspore.config.DataType;
import com.mindspore.config.MindsporeLite;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Supplier;

/**
 * A tensor: name, type, shape and data. Several objects may refer to one tensor of a model. Tensors of a model are
 * freed with the model, others with {@code free()}.
 */
public class MSTensor extends NativeHandle {
  // Types of arrays, with the letters of JNI.
  private static final char BYTES = 'B';
  private static final char SHORTS = 'S';
  private static final char INTS = 'I';
  private static final char LONGS = 'J';
  private static final char FLOATS = 'F';

  // Prevents the garbage collection of the tensor's model.
  @SuppressWarnings("unused")
  private final Object model;

  /** Creates an object without a tensor: every call throws. */
  public MSTensor() {
    this(0, null, false);
  }

  /** Creates another object for a native tensor, which {@link #getMSTensorPtr()} has returned. */
  public MSTensor(long tensorPtr) {
    this(tensorPtr, null, false);
  }

  private MSTensor(long handle, Object model, boolean isOwner) {
    super(handle, isOwner);
    this.model = model;
  }

  /** Returns an object that owns a native tensor. */
  static MSTensor owned(long handle) {
    return new MSTensor(handle, null, true);
  }

  static MSTensor of(Object model, long handle) {
    return new MSTensor(handle, model, false);
  }

  /**
   * Creates a tensor with a copy of a buffer, from its position to its limit, in the byte order of the machine.
   *
   * @return null on failure; {@link MindsporeLite#getLastError()} returns the reason
   */
  public static MSTensor createTensor(String tensorName, int dataType, int[] tensorShape, ByteBuffer buffer) {
    return orNull(() -> createTensorOrThrow(tensorName, dataType, tensorShape, buffer));
  }

  /**
   * Creates a tensor with a copy of a scalar or an array, which may have several dimensions.
   *
   * @param array of float, double, int, long or boolean
   * @return null on failure; {@link MindsporeLite#getLastError()} returns the reason
   */
  public static MSTensor createTensor(String tensorName, Object array) {
    return orNull(() -> createTensorOrThrow(tensorName, array));
  }

  /** The same as {@link #createTensor(String, int, int[], ByteBuffer)}, but throws a {@link MindSporeException}. */
  public static MSTensor createTensorOrThrow(String tensorName, int dataType, int[] tensorShape, ByteBuffer buffer) {
    byte[] name = utf8(tensorName, "the name");
    ByteBuffer data = Buffers.direct(given(buffer, "the buffer"));
    return owned(nativeCreate(name, DataType.sized(dataType), given(tensorShape, "the shape"), data));
  }

  /** The same as {@link #createTensor(String, Object)}, but throws a {@link MindSporeException}. */
  public static MSTensor createTensorOrThrow(String tensorName, Object array) {
    ArrayContents contents = ArrayContents.of(given(array, "the array"));
    return createTensorOrThrow(tensorName, contents.dataType, contents.shape, contents.data);
  }

  private static MSTensor orNull(Supplier<MSTensor> create) {
    try {
      return create.get();
    } catch (HandleMisuseException e) {
      throw e;
    } catch (MindSporeException e) {
      MindsporeLite.remember(e);
      return null;
    }
  }

  /** Returns the shape; an unknown size is -1. */
  public int[] getShape() {
    return nativeShape(handle());
  }

  /** Returns the data type, a constant of {@link DataType}. */
  public int getDataType() {
    return nativeDataType(handle());
  }

  /** Returns the size of the data in bytes; 0 if the shape is unknown. */
  public long size() {
    return nativeSize(handle());
  }

  /** Returns the number of elements; -1 if the shape is unknown. */
  public int elementsNum() {
    return nativeElements(handle());
  }

  public String tensorName() {
    return text(nativeName(handle()));
  }

  /** Returns the handle of the native tensor, for {@link #MSTensor(long)}. */
  public long getMSTensorPtr() {
    return handleOrNone();
  }

  /** Returns the data as float[] (float16 and float32), int[] (int32), long[] (int64), or byte[] for other types. */
  public Object getData() {
    switch (getDataType()) {
      case DataType.kNumberTypeFloat16:
      case DataType.kNumberTypeFloat32:
        return getFloatData();
      case DataType.kNumberTypeInt32:
        return getIntData();
      case DataType.kNumberTypeInt64:
        return getLongData();
      default:
        return getByteData();
    }
  }

  /** Returns a copy of the data as bytes, for all types; empty if there is no data. */
  public byte[] getByteData() {
    return attempt(() -> (byte[]) nativeRead(handle(), BYTES), new byte[0]);
  }

  /** Returns a copy of the data of a float32 or float16 tensor; empty for other types and if there is no data. */
  public float[] getFloatData() {
    return attempt(
        () -> {
          int type = ofType("float", DataType.kNumberTypeFloat32, DataType.kNumberTypeFloat16);
          return type == DataType.kNumberTypeFloat16
              ? Float16.toFloats((short[]) nativeRead(handle(), SHORTS))
              : (float[]) nativeRead(handle(), FLOATS);
        },
        new float[0]);
  }

  /** Returns a copy of the data of an int32 tensor; empty for other types and if there is no data. */
  public int[] getIntData() {
    return attempt(
        () -> {
          ofType("int", DataType.kNumberTypeInt32, DataType.kNumberTypeUInt32);
          return (int[]) nativeRead(handle(), INTS);
        },
        new int[0]);
  }

  /** Returns a copy of the data of an int64 tensor; empty for other types and if there is no data. */
  public long[] getLongData() {
    return attempt(
        () -> {
          ofType("long", DataType.kNumberTypeInt64, DataType.kNumberTypeUInt64);
          return (long[]) nativeRead(handle(), LONGS);
        },
        new long[0]);
  }

  /**
   * Returns the memory of the tensor without a copy, in the byte order of the machine; null on failure. The memory of
   * an input may be written. The memory of a model's output is read-only; each run writes its results to it, unless
   * they become too large. The memory stays valid as long as the buffer exists, but belongs to the tensor only until
   * the next {@code setData} or change of shape.
   */
  public ByteBuffer getDataBuffer() {
    return attempt(this::getDataBufferOrThrow, null);
  }

  /** The same as {@link #getDataBuffer}, but throws a {@link MindSporeException}. */
  public ByteBuffer getDataBufferOrThrow() {
    ByteBuffer buffer = nativeBuffer(handle(), null);
    if (buffer == null) {
      buffer = nativeBuffer(handle(), ByteBuffer.allocateDirect(Buffers.capacity(size())));
    }
    ByteBuffer view = nativeIsOutput(handle()) ? buffer.asReadOnlyBuffer() : buffer.duplicate();
    return view.order(ByteOrder.nativeOrder());
  }

  public boolean setShape(int[] tensorShape) {
    return attempt(() -> nativeSetShape(handle(), given(tensorShape, "the shape")));
  }

  /**
   * Sets the data to a buffer, from its position to its limit, in the byte order of the machine. A direct buffer is not
   * copied: the tensor refers to its memory, and a model writes an output to it.
   *
   * @return false on failure; {@link #getLastError()} returns the reason
   */
  public boolean setData(ByteBuffer data) {
    return attempt(
        () -> {
          ByteBuffer slice = given(data, "the data").slice();
          if (slice.isDirect()) {
            nativeAttach(handle(), slice, slice.isReadOnly());
          } else {
            byte[] bytes = new byte[slice.remaining()];
            slice.get(bytes);
            nativeWrite(handle(), bytes, BYTES);
          }
        });
  }

  /** Copies bytes to a tensor of any type, in the byte order of the machine. */
  public boolean setData(byte[] data) {
    return attempt(() -> nativeWrite(handle(), given(data, "the data"), BYTES));
  }

  /** Copies values to a float32 tensor, or rounds them to a float16 tensor. */
  public boolean setData(float[] data) {
    return attempt(
        () -> {
          int type = ofType("float", DataType.kNumberTypeFloat32, DataType.kNumberTypeFloat16);
          if (type == DataType.kNumberTypeFloat16) {
            nativeWrite(handle(), Float16.fromFloats(given(data, "the data")), SHORTS);
          } else {
            nativeWrite(handle(), given(data, "the data"), FLOATS);
          }
        });
  }

  /** Copies values to an int32 tensor. */
  public boolean setData(int[] data) {
    return attempt(
        () -> {
          ofType("int", DataType.kNumberTypeInt32, DataType.kNumberTypeUInt32);
          nativeWrite(handle(), given(data, "the data"), INTS);
        });
  }

  /** Copies values to an int64 tensor. */
  public boolean setData(long[] data) {
    return attempt(
        () -> {
          ofType("long", DataType.kNumberTypeInt64, DataType.kNumberTypeUInt64);
          nativeWrite(handle(), given(data, "the data"), LONGS);
        });
  }

  private int ofType(String javaType, int first, int second) {
    int type = getDataType();
    if (type != first && type != second) {
      throw new MindSporeException(
          MindSporeException.PARAM_INVALID,
          "tensor '" + tensorName() + "' is " + DataType.name(type) + ", which does not match Java's " + javaType
              + "; getByteData and setData(byte[]) support all types");
    }
    return type;
  }

  private static native long nativeCreate(byte[] name, int dataType, int[] shape, ByteBuffer data);

  private native int[] nativeShape(long tensor);

  private native int nativeDataType(long tensor);

  private native long nativeSize(long tensor);

  private native int nativeElements(long tensor);

  private native byte[] nativeName(long tensor);

  private native boolean nativeIsOutput(long tensor);

  private native void nativeSetShape(long tensor, int[] shape);

  private native Object nativeRead(long tensor, char kind);

  private native void nativeWrite(long tensor, Object array, char kind);

  private native void nativeAttach(long tensor, ByteBuffer data, boolean isReadOnly);

  // Returns the direct buffer with the data. If there is none, sets it to `fresh`, if that is not null.
  private native ByteBuffer nativeBuffer(long tensor, ByteBuffer fresh);
}
