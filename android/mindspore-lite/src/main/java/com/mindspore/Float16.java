package com.mindspore;

/** Conversion of float16 values (IEEE 754 binary16), for which Java has no type. */
final class Float16 {
  private static final float SMALLEST_SUBNORMAL = 0x1p-24f;

  private Float16() {}

  static float[] toFloats(short[] halves) {
    float[] result = new float[halves.length];
    for (int i = 0; i < halves.length; ++i) {
      result[i] = toFloat(halves[i]);
    }
    return result;
  }

  static short[] fromFloats(float[] values) {
    short[] result = new short[values.length];
    for (int i = 0; i < values.length; ++i) {
      result[i] = fromFloat(values[i]);
    }
    return result;
  }

  static float toFloat(short half) {
    int sign = (half & 0x8000) << 16;
    int exponent = (half >> 10) & 0x1f;
    int fraction = half & 0x3ff;
    if (exponent == 0) {
      float magnitude = fraction * SMALLEST_SUBNORMAL;
      return sign == 0 ? magnitude : -magnitude;
    }
    int wide = exponent == 0x1f ? 0xff : exponent - 15 + 127;
    return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
  }

  /** Converts a float to float16, rounded to nearest even. */
  static short fromFloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = (bits >> 16) & 0x8000;
    int magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      return (short) (sign | 0x7e00); // not a number
    }
    if (magnitude >= 0x477ff000) {
      return (short) (sign | 0x7c00); // 65520 and more round to infinity
    }
    if (magnitude < 0x38800000) { // below 2^-14: steps of 2^-24
      return (short) (sign | (int) Math.rint(Float.intBitsToFloat(magnitude) / SMALLEST_SUBNORMAL));
    }
    int rounded = magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1);
    return (short) (sign | rounded >> 13);
  }
}
