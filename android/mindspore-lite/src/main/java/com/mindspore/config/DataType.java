package com.mindspore.config;

/** Data types of tensors, with the values of the C++ API. */
public class DataType {
  public static final int kNumberTypeBool = 30;
  public static final int kNumberTypeInt = 31;
  public static final int kNumberTypeInt8 = 32;
  public static final int kNumberTypeInt16 = 33;
  public static final int kNumberTypeInt32 = 34;
  public static final int kNumberTypeInt64 = 35;
  public static final int kNumberTypeUInt = 36;
  public static final int kNumberTypeUInt8 = 37;
  public static final int kNumberTypeUInt16 = 38;
  public static final int kNumberTypeUint32 = 39;
  public static final int kNumberTypeUInt32 = kNumberTypeUint32;
  public static final int kNumberTypeUInt64 = 40;
  public static final int kNumberTypeFloat = 41;
  public static final int kNumberTypeFloat16 = 42;
  public static final int kNumberTypeFloat32 = 43;
  public static final int kNumberTypeFloat64 = 44;

  private DataType() {}

  /** Returns the type with its size for Int, UInt and Float; other types are not changed. */
  public static int sized(int dataType) {
    switch (dataType) {
      case kNumberTypeInt:
        return kNumberTypeInt32;
      case kNumberTypeUInt:
        return kNumberTypeUInt32;
      case kNumberTypeFloat:
        return kNumberTypeFloat32;
      default:
        return dataType;
    }
  }

  /** Returns the name of a type. */
  public static String name(int dataType) {
    switch (dataType) {
      case kNumberTypeBool:
        return "bool";
      case kNumberTypeInt8:
        return "int8";
      case kNumberTypeInt16:
        return "int16";
      case kNumberTypeInt:
      case kNumberTypeInt32:
        return "int32";
      case kNumberTypeInt64:
        return "int64";
      case kNumberTypeUInt8:
        return "uint8";
      case kNumberTypeUInt16:
        return "uint16";
      case kNumberTypeUInt:
      case kNumberTypeUInt32:
        return "uint32";
      case kNumberTypeUInt64:
        return "uint64";
      case kNumberTypeFloat16:
        return "float16";
      case kNumberTypeFloat:
      case kNumberTypeFloat32:
        return "float32";
      case kNumberTypeFloat64:
        return "float64";
      default:
        return "type " + dataType;
    }
  }
}
