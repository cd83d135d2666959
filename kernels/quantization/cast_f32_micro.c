/* QuantDTypeCast between float32 and quantized integers of 8 or 16 bits, per tensor, on microcontrollers: one kernel
 * per direction and type. Same results as quantization/tensor_cast_vector.c, but without float64. */
#include <math.h>

#include "math/nearest_micro.h"
#include "simd/micro.h"

typedef struct {
  int32_t count;
  int32_t zero;
  float scale;
} cast_derived;

static int32_t supports(const mslite_node *node, const mslite_tensor *floats, const mslite_tensor *integers,
                        int32_t type, bool quantizes) {
  if (floats->type != MSLITE_FLOAT32 || integers->type != type || integers->quant_count != 1) return 0;
  const mslite_quant *record = integers->quant;
  if (!(record->scale > 0) || mslite_element_count(node->inputs[0]) > INT32_MAX / 16) return 0;
  /* The product of a float32 scale and a small integer is exact in float64, so it is rounded only once. */
  if (!quantizes && (double)(float)record->scale != record->scale) return 0;
  return record->zero_point >= -(1 << 16) && record->zero_point <= 1 << 16 ? 3 : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  cast_derived *own = derived;
  const mslite_tensor *integers = node->inputs[0]->type == MSLITE_FLOAT32 ? node->outputs[0] : node->inputs[0];
  own->count = (int32_t)mslite_element_count(node->inputs[0]);
  own->zero = integers->quant->zero_point;
  own->scale = (float)integers->quant->scale;
  schedule->phase_count = 1;
  schedule->part_count[0] = own->count > 0;
  return MSLITE_OK;
}

/* A value of 23 bits has no fraction bits: adding it rounds, half to even. */
MICRO_INLINE int32_t nearest_even(float v) { return (int32_t)((v + 12582912.0F) - 12582912.0F); }

#define QUANTIZE(name, type, enumerator, low, high, even, rounded)              \
  static int32_t name##_support(const mslite_node *node) {                      \
    const mslite_tensor *y = node->outputs[0];                                  \
    const int32_t score = supports(node, node->inputs[0], y, enumerator, true); \
    return score != 0 && (y->quant->rounds_even != 0) == even ? score : 0;      \
  }                                                                             \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {  \
    (void)phase;                                                                \
    (void)part;                                                                 \
    const cast_derived *own = run->derived;                                     \
    const float *x = run->inputs[0];                                            \
    type *y = run->outputs[0];                                                  \
    for (int32_t i = own->count; i > 0; --i) {                                  \
      const int32_t q = rounded(micro_bounded(*x++ / own->scale)) + own->zero;  \
      *y++ = (type)(q < (low) ? (low) : q > (high) ? (high) : q);               \
    }                                                                           \
  }

#define DEQUANTIZE(name, type, enumerator)                                                  \
  static int32_t name##_support(const mslite_node *node) {                                  \
    return supports(node, node->outputs[0], node->inputs[0], enumerator, false);            \
  }                                                                                         \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {              \
    (void)phase;                                                                            \
    (void)part;                                                                             \
    const cast_derived *own = run->derived;                                                 \
    const type *x = run->inputs[0];                                                         \
    float *y = run->outputs[0];                                                             \
    for (int32_t i = own->count; i > 0; --i) *y++ = (float)(*x++ - own->zero) * own->scale; \
  }

QUANTIZE(quantize_int8, int8_t, MSLITE_INT8, INT8_MIN, INT8_MAX, false, micro_nearest)
QUANTIZE(quantize_even_int8, int8_t, MSLITE_INT8, INT8_MIN, INT8_MAX, true, nearest_even)
QUANTIZE(quantize_uint8, uint8_t, MSLITE_UINT8, 0, UINT8_MAX, false, micro_nearest)
QUANTIZE(quantize_even_uint8, uint8_t, MSLITE_UINT8, 0, UINT8_MAX, true, nearest_even)
QUANTIZE(quantize_int16, int16_t, MSLITE_INT16, INT16_MIN, INT16_MAX, false, micro_nearest)
QUANTIZE(quantize_even_int16, int16_t, MSLITE_INT16, INT16_MIN, INT16_MAX, true, nearest_even)
DEQUANTIZE(dequantize_int8, int8_t, MSLITE_INT8)
DEQUANTIZE(dequantize_uint8, uint8_t, MSLITE_UINT8)
DEQUANTIZE(dequantize_int16, int16_t, MSLITE_INT16)

/* The smaller element may overlap the larger one. */
static int64_t lead(const mslite_node *node, const void *derived, int32_t input) {
  const cast_derived *own = derived;
  const int64_t from = mslite_type_size(node->inputs[0]->type), to = mslite_type_size(node->outputs[0]->type);
  return input != 0 ? -1 : to <= from ? 0 : own->count * (to - from);
}

#define CAST(function)                                              \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_QuantDTypeCast,                               \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(cast_derived),                         \
      .support = function##_support,                                \
      .prepare = prepare,                                           \
      .run = function##_run,                                        \
      .lead = lead,                                                 \
  };

CAST(quantize_int8)
CAST(quantize_even_int8)
CAST(quantize_uint8)
CAST(quantize_even_uint8)
CAST(quantize_int16)
CAST(quantize_even_int16)
CAST(dequantize_int8)
CAST(dequantize_uint8)
CAST(dequantize_int16)
