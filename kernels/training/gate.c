/* The gradient of activations that only clamp, from one bit per element: the data that is kept from the forward to
 * the backward pass takes a 32nd of the result's memory. */
#include "kernel.h"

enum { PART_ELEMENTS = 16384 }; /* a multiple of 8, for whole bytes of bits */

typedef struct {
  int64_t count;
  float low, high;
} gate_derived;

static int32_t mask_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->outputs[0]->type == MSLITE_UINT8;
}

static int32_t grad_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_UINT8;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  gate_derived *numbers = derived;
  const bool is_mask = node->op == MSLITE_OP_GateMask;
  const mslite_tensor *mask = is_mask ? node->outputs[0] : node->inputs[1];
  numbers->count = mslite_element_count(node->inputs[0]);
  numbers->low = numbers->high = 0.0f;
  if (mslite_element_count(mask) != (numbers->count + 7) / 8) return MSLITE_ERROR_SHAPE;
  if (is_mask) {
    const mslite_GateMask *attributes = node->params;
    numbers->low = attributes->low;
    numbers->high = attributes->high;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static int64_t part_end(const gate_derived *numbers, int64_t begin) {
  return numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
}

static void mask_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const gate_derived *numbers = run->derived;
  const float *x = run->inputs[0];
  uint8_t *mask = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS, end = part_end(numbers, begin);
  for (int64_t first = begin; first < end; first += 8) {
    const int64_t count = end - first < 8 ? end - first : 8;
    uint32_t bits = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float value = x[first + i];
      bits |= (uint32_t)(value > numbers->low && value < numbers->high) << i;
    }
    mask[first / 8] = (uint8_t)bits;
  }
}

static void grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const gate_derived *numbers = run->derived;
  const float *dy = run->inputs[0];
  const uint8_t *mask = run->inputs[1];
  float *dx = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS, end = part_end(numbers, begin);
  for (int64_t i = begin; i < end; ++i) dx[i] = (mask[i / 8] >> (i % 8) & 1) != 0 ? dy[i] : 0.0f;
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel mslite_kernel_gate_mask = {
    .name = "gate_mask_scalar",
    .op = MSLITE_OP_GateMask,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(gate_derived),
    .support = mask_support,
    .prepare = prepare,
    .run = mask_run,
};

const mslite_kernel mslite_kernel_gate_grad = {
    .name = "gate_grad_scalar",
    .op = MSLITE_OP_GateGrad,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(gate_derived),
    .support = grad_support,
    .prepare = prepare,
    .run = grad_run,
    .in_place = in_place,
};
