/* CumSum and CumProd: cumulative sums and products along an axis, which need not be constant; integers wrap around. */
#include <string.h>

#include "movement.h"
#include "reduction/order.h"

typedef struct {
  mslite_axis_view view;
  int32_t type;
  int32_t product;
  int32_t exclusive;
  int32_t reverse;
  bool computed; /* the axis is read at run time */
  int32_t axis_type, rank;
  int64_t dims[MSLITE_MAX_RANK];
} scan_derived;

static bool computes_axis(const mslite_node *node) {
  const mslite_tensor *axis = node->inputs[1];
  return axis->data == NULL && mslite_element_count(axis) == 1 && node->inputs[0]->rank > 0 &&
         (axis->type == MSLITE_INT32 || axis->type == MSLITE_INT64);
}

static bool axis_of(const mslite_node *node, int32_t *axis) {
  const mslite_tensor *tensor = node->inputs[1];
  if (tensor->data == NULL || mslite_element_count(tensor) != 1) return false;
  int64_t wanted;
  if (tensor->type == MSLITE_INT64)
    wanted = *(const int64_t *)tensor->data;
  else if (tensor->type == MSLITE_INT32 || tensor->type == MSLITE_INT)
    wanted = *(const int32_t *)tensor->data;
  else
    return false;
  *axis = mslite_normalize_axis(wanted, node->inputs[0]->rank);
  return *axis >= 0;
}

static int32_t support(const mslite_node *node) {
  int32_t axis;
  switch (node->inputs[0]->type) {
    case MSLITE_FLOAT32:
    case MSLITE_FLOAT64:
    case MSLITE_INT32:
    case MSLITE_INT64:
      return axis_of(node, &axis) || computes_axis(node);
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  scan_derived *numbers = derived;
  int32_t axis;
  memset(numbers, 0, sizeof *numbers);
  if (axis_of(node, &axis)) {
    numbers->view = mslite_view_axis(node->inputs[0], axis);
  } else if (computes_axis(node)) {
    numbers->computed = true;
    numbers->axis_type = node->inputs[1]->type;
    numbers->rank = node->inputs[0]->rank;
    memcpy(numbers->dims, node->inputs[0]->dims, sizeof numbers->dims);
  } else {
    return MSLITE_ERROR_VALUE;
  }
  numbers->type = node->inputs[0]->type;
  numbers->product = node->op == MSLITE_OP_CumProd;
  const mslite_CumSum *sum = node->params;
  const mslite_CumProd *product = node->params;
  numbers->exclusive = numbers->product ? product->exclusive : sum->exclusive;
  numbers->reverse = numbers->product ? product->reverse : sum->reverse;
  schedule->phase_count = 1;
  schedule->part_count[0] = numbers->computed ? 1 : (int32_t)numbers->view.outer;
  return MSLITE_OK;
}

/* `total` is a double for float32. */
#define SCAN(type, wide)                                                         \
  for (int64_t inner = 0; inner < view.inner; ++inner) {                         \
    wide total = (wide)(numbers->product != 0);                                  \
    for (int64_t i = 0; i < view.size; ++i) {                                    \
      const int64_t along = numbers->reverse ? view.size - 1 - i : i;            \
      const int64_t at = (part * view.size + along) * view.inner + inner;        \
      const type v = ((const type *)run->inputs[0])[at];                         \
      const wide next = numbers->product ? total * (wide)v : total + (wide)v;    \
      ((type *)run->outputs[0])[at] = (type)(numbers->exclusive ? total : next); \
      total = next;                                                              \
    }                                                                            \
  }                                                                              \
  break

static void scan(const mslite_run *run, mslite_axis_view view, int64_t part) {
  const scan_derived *numbers = run->derived;
  switch (numbers->type) {
    case MSLITE_FLOAT32:
      SCAN(float, double);
    case MSLITE_FLOAT64:
      SCAN(double, double);
    case MSLITE_INT32:
      SCAN(int32_t, uint32_t);
    default:
      SCAN(int64_t, uint64_t);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const scan_derived *numbers = run->derived;
  if (!numbers->computed) {
    scan(run, numbers->view, part);
    return;
  }
  const int64_t wanted = mslite_integer_at(run->inputs[1], numbers->axis_type, 0);
  const int32_t axis = mslite_normalize_axis(wanted, numbers->rank);
  if (axis < 0) {
    mslite_report_value(run, 1, 0, wanted, -numbers->rank, numbers->rank);
    return;
  }
  mslite_tensor x = {0};
  x.rank = numbers->rank;
  memcpy(x.dims, numbers->dims, sizeof x.dims);
  const mslite_axis_view view = mslite_view_axis(&x, axis);
  for (int64_t outer = 0; outer < view.outer; ++outer) scan(run, view, outer);
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define CUMULATIVE(function, operator)             \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(scan_derived),        \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
      .in_place = in_place,                        \
  };

CUMULATIVE(cum_sum, CumSum)
CUMULATIVE(cum_prod, CumProd)
