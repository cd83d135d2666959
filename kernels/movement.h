/* Shared by the kernels that copy elements of any type. */
#ifndef MSLITE_MOVEMENT_H
#define MSLITE_MOVEMENT_H

#include "strided_copy.h"

/* Defines the table entry `mslite_kernel_<name>`. */
#define MSLITE_MOVEMENT_KERNEL(name_, operator_, derived_, support_, prepare_, run_, in_place_) \
  MSLITE_PORTABLE_KERNEL(name_, operator_, derived_, support_, prepare_, run_, in_place_, 0)

/* As MSLITE_MOVEMENT_KERNEL, for a kernel that computes on quantized integers. */
#define MSLITE_QUANTIZED_KERNEL(name_, operator_, derived_, support_, prepare_, run_, in_place_) \
  MSLITE_PORTABLE_KERNEL(name_, operator_, derived_, support_, prepare_, run_, in_place_, 1)

#define MSLITE_PORTABLE_KERNEL(name_, operator_, derived_, support_, prepare_, run_, in_place_, quantized_) \
  const mslite_kernel mslite_kernel_##name_ = {                                                             \
      .name = #name_ "_scalar",                                                                             \
      .op = MSLITE_OP_##operator_,                                                                          \
      .isa = MSLITE_ISA_SCALAR,                                                                             \
      .derived_size = sizeof(derived_),                                                                     \
      .support = support_,                                                                                  \
      .prepare = prepare_,                                                                                  \
      .run = run_,                                                                                          \
      .in_place = in_place_,                                                                                \
      .quantized = quantized_,                                                                              \
  };

/* `support` of kernels that copy input 0 to output 0: elements of fixed size, no change of quantization. */
int32_t mslite_copies_elements(const mslite_node *node);

/* Returns whether both tensors have the same quantization parameters, or one of them has none. */
bool mslite_same_quant(const mslite_tensor *a, const mslite_tensor *b);

/* `run` of kernels whose derived data is one mslite_copy from input 0 to output 0. */
void mslite_run_copy(const mslite_run *run, int32_t phase, int32_t part);

/* Completes the preparation of such a kernel. */
mslite_status mslite_schedule_copy(mslite_copy *copy, mslite_schedule *schedule);

#endif
