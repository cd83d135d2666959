// What attributes and constant operands of an operator mean, for all engines.
#ifndef MSLITE_DELEGATE_ENGINE_ATTRIBUTES_H
#define MSLITE_DELEGATE_ENGINE_ATTRIBUTES_H

#include <vector>

#include "kernel.h"
#include "resize/resize_plan.h"

namespace mslite {
// The activation that a binary operator applies to its result; no activation where it has none.
int32_t FusedActivation(const mslite_node &node);

// Whether the operator makes one tensor of several, and not several of one.
bool Joins(int32_t op);

// Of Concat, Stack, Split and Unstack; negative: it is not there.
int32_t JoinAxis(const mslite_node &node);

// Of Softmax and LogSoftmax.
int32_t SoftmaxAxis(const mslite_node &node);

// The first axis of a row of RmsNorm or LayerNormFusion.
int32_t LayerAxis(const mslite_node &node);

struct ArgAttributes {
  int32_t axis;
  bool is_first_index;  // neither several indices nor values
};

// Of ArgMaxFusion and ArgMinFusion.
ArgAttributes ArgOf(const mslite_node &node);

// Of Gather; negative: it is not there, or no constant.
int32_t GatherAxis(const mslite_node &node);

struct Resized {
  mslite_resize_plan plan;
  std::vector<int32_t> axes;  // those that change, ascending
};

// Of Resize and ResizeND. False: a size is no constant.
bool ReadResize(const mslite_node &node, Resized *resized);
}  // namespace mslite

#endif
