/* CumSum and CumProd: running sums and products along an axis; integers wrap. */
#include "reduction/order.h"

typedef struct {
  mslite_axis_view view;
  int32_t type;
  int32_t product;
  int32_t exclusive;
  int32_t reverse;
} scan_derived;

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
      return axis_of(node, &axis);
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  scan_derived *numbers = derived;
  int32_t axis;
  if (!axis_of(node, &axis)) return MSLITE_ERROR_VALUE;
  numbers->view = mslite_view_axis(node->inputs[0], axis);
  numbers->type = node->inputs[0]->type;
  numbers->product = node->op == MSLITE_OP_CumProd;
  const mslite_CumSum *sum = node->params;
  const mslite_CumProd *product = node->params;
  numbers->exclusive = numbers->product ? product->exclusive : sum->exclusive;
  numbers->reverse = numbers->product ? product->reverse : sum->reverse;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)numbers->view.outer;
  return MSLITE_OK;
}

/* `total` keeps float32 sums in double precision. */
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

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const scan_derived *numbers = run->derived;
  const mslite_axis_view view = numbers->view;
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
