/* Element-wise functions of quantized 8-bit integers on microcontrollers: a table of all 256 results, in flash. */
#include "simd/micro.h"
#include "unary/unary_int8.h"

typedef struct {
  int32_t count;
  int8_t table[256];
} unary_derived;

static int32_t unary_support(const mslite_node *node) {
  return node->outputs[0]->type == MSLITE_INT8 && mslite_stored_unary_support(node) > 0 ? 2 : 0;
}

static mslite_status unary_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unary_derived *own = derived;
  const int64_t count = mslite_element_count(node->outputs[0]);
  if (count > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  own->count = (int32_t)count;
  schedule->phase_count = 1;
  schedule->part_count[0] = count > 0;
  return mslite_fill_stored_unary(node, own->table);
}

static void unary_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const unary_derived *own = run->derived;
  const int8_t *x = run->inputs[0], *table = own->table + 128;
  int8_t *y = run->outputs[0];
  for (int32_t i = own->count; i > 0; --i) *y++ = table[*x++];
}

static int32_t unary_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

static int64_t unary_lead(const mslite_node *node, const void *derived, int32_t input) {
  (void)node;
  (void)derived;
  return input == 0 ? 0 : -1;
}

#define UNARY(operator_)                                                        \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_unary_int8_##operator_) = { \
      .name = MSLITE_ISA_STRING(unary_int8_##operator_),                        \
      .op = MSLITE_OP_##operator_,                                              \
      .isa = MSLITE_THIS_ISA,                                                   \
      .derived_size = sizeof(unary_derived),                                    \
      .support = unary_support,                                                 \
      .prepare = unary_prepare,                                                 \
      .run = unary_run,                                                         \
      .in_place = unary_in_place,                                               \
      .quantized = 1,                                                           \
      .lead = unary_lead,                                                       \
  };

UNARY(Activation)
UNARY(LeakyRelu)
UNARY(Elu)
UNARY(HardSigmoid)
UNARY(Clip)
UNARY(Abs)
UNARY(Neg)
UNARY(ExpFusion)
UNARY(Log)
UNARY(Sqrt)
UNARY(Rsqrt)
UNARY(Square)
UNARY(Sin)
UNARY(Cos)
UNARY(Erf)
UNARY(Reciprocal)
UNARY(Floor)
UNARY(Ceil)
UNARY(Round)
UNARY(Sign)
