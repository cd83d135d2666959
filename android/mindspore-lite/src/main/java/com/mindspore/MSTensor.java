package com.mindspore;

import com.mindspore.config.DataType;
import com.mindspore.config.MindsporeLite;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Supplier;

/**
 * A tensor: name, type, shape and contents. Several objects may show one tensor of a model. Tensors of a model go with
 * the model, others with {@code free()}.
 */
public class MSTensor extends NativeHandle {
  // Kinds of arrays, as JNI abbreviates them.
  private static final char BYTES = 'B';
  private static final char SHORTS = 'S';
  private static final char INTS = 'I';
  private static final char LONGS = 'J';
  private static final char FLOATS = 'F';

  // Keeps the model of the tensor from the garbage collector.
  @SuppressWarnings("unused")
  private final Object model;

  /** No tensor: every call throws. */
  public MSTensor() {
    this(0, null, false);
  }

  /** Another object for the tensor of that number, which {@link #getMSTensorPtr()} gave. */
  public MSTensor(long tensorPtr) {
    this(tensorPtr, null, false);
  }

  private MSTensor(long handle, Object model, boolean isOwner) {
    super(handle, isOwner);
    this.model = model;
  }

  /** A tensor of nobody else. */
  static MSTensor owned(long handle) {
    return new MSTensor(handle, null, true);
  }

  static MSTensor of(Object model, long handle) {
    return new MSTensor(handle, model, false);
  }

  /**
   * A tensor with a copy of the buffer's bytes from its position to its limit, numbers in the machine's byte order.
   *
   * @return null when that fails; {@link MindsporeLite#getLastError()} says why
   */
  public static MSTensor createTensor(String tensorName, int dataType, int[] tensorShape, ByteBuffer buffer) {
    return orNull(() -> createTensorOrThrow(tensorName, dataType, tensorShape, buffer));
  }

  /**
   * A tensor with a copy of an array, of several dimensions perhaps, or a scalar.
   *
   * @param array of float, double, int, long or boolean
   * @return null when that fails; {@link MindsporeLite#getLastError()} says why
   */
  public static MSTensor createTensor(String tensorName, Object array) {
    return orNull(() -> createTensorOrThrow(tensorName, array));
  }

  /** As {@link #createTensor(String, int, int[], ByteBuffer)}, but throws a {@link MindSporeException}. */
  public static MSTensor createTensorOrThrow(String tensorName, int dataType, int[] tensorShape, ByteBuffer buffer) {
    byte[] name = utf8(tensorName, "the name");
    ByteBuffer data = Buffers.direct(given(buffer, "the buffer"));
    return owned(nativeCreate(name, DataType.sized(dataType), given(tensorShape, "the shape"), data));
  }

  /** As {@link #createTensor(String, Object)}, but throws a {@link MindSporeException}. */
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

  /** The shape; a size that is not known yet is -1. */
  public int[] getShape() {
    return nativeShape(handle());
  }

  /** A constant of {@link DataType}. */
  public int getDataType() {
    return nativeDataType(handle());
  }

  /** The size of the contents in bytes; 0 while a size of the shape is not known. */
  public long size() {
    return nativeSize(handle());
  }

  /** The number of elements; -1 while a size of the shape is not known. */
  public int elementsNum() {
    return nativeElements(handle());
  }

  public String tensorName() {
    return text(nativeName(handle()));
  }

  /** The number of the native tensor, for {@link #MSTensor(long)}. */
  public long getMSTensorPtr() {
    return handleOrNone();
  }

  /** The contents as float[] (float16 and float32), int[] (int32), long[] (int64), otherwise byte[]. */
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

  /** A copy of the contents, whatever their type; empty when there are none. */
  public byte[] getByteData() {
    return attempt(() -> (byte[]) nativeRead(handle(), BYTES), new byte[0]);
  }

  /** A copy of the contents of a float32 or float16 tensor; empty for other types and when there are none. */
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

  /** A copy of the contents of an int32 tensor; empty for other types and when there are none. */
  public int[] getIntData() {
    return attempt(
        () -> {
          ofType("int", DataType.kNumberTypeInt32, DataType.kNumberTypeUInt32);
          return (int[]) nativeRead(handle(), INTS);
        },
        new int[0]);
  }

  /** A copy of the contents of an int64 tensor; empty for other types and when there are none. */
  public long[] getLongData() {
    return attempt(
        () -> {
          ofType("long", DataType.kNumberTypeInt64, DataType.kNumberTypeUInt64);
          return (long[]) nativeRead(handle(), LONGS);
        },
        new long[0]);
  }

  /**
   * The memory of the tensor, in the machine's byte order, without a copy; null when that fails. Of an input it may be
   * written; of a model's output it is read-only, and each run writes into it until a result does not fit any more. The
   * buffer is valid memory as long as it is referred to, but shows the tensor only until the next {@code setData} or
   * change of shape.
   */
  public ByteBuffer getDataBuffer() {
    return attempt(this::getDataBufferOrThrow, null);
  }

  /** As {@link #getDataBuffer}, but throws a {@link MindSporeException}. */
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
   * Takes the bytes from the buffer's position to its limit, numbers in the machine's byte order. A direct buffer is
   * not copied: the tensor refers to its memory from then on, and a model writes an output there.
   *
   * @return false when that fails; {@link #getLastError()} says why
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

  /** Copies the bytes, numbers in the machine's byte order, into a tensor of any type. */
  public boolean setData(byte[] data) {
    return attempt(() -> nativeWrite(handle(), given(data, "the data"), BYTES));
  }

  /** Copies numbers into a float32 tensor, or rounds them into a float16 one. */
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

  /** Copies numbers into an int32 tensor. */
  public boolean setData(int[] data) {
    return attempt(
        () -> {
          ofType("int", DataType.kNumberTypeInt32, DataType.kNumberTypeUInt32);
          nativeWrite(handle(), given(data, "the data"), INTS);
        });
  }

  /** Copies numbers into an int64 tensor. */
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
          "tensor '" + tensorName() + "' is " + DataType.name(type) + ", which Java's " + javaType
              + " does not fit; getByteData and setData(byte[]) take every type");
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

  // The direct buffer that holds the contents, or null; then `fresh`, if given, is made it.
  private native ByteBuffer nativeBuffer(long tensor, ByteBuffer fresh);
}
