// What attributes and constant operands of an operator mean, for all engines.
#ifndef MSLITE_DELEGATE_ENGINE_ATTRIBUTES_H
#define MSLITE_DELEGATE_ENGINE_ATTRIBUTES_H

#include <string>
#include <vector>

#include "convolution/window.h"
#include "kernel.h"
#include "resize/resize_plan.h"

namespace mslite {
// "" where all inputs and outputs are float32; else the reason.
std::string WhyNotFloat(const mslite_node &node);

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

// Indices into a dimension of this size, counted from its beginning. Returns why they are not there, or an empty text.
std::string ConstantIndices(const mslite_tensor &indices, int64_t size, std::vector<int64_t> *places);

// Of Transpose: which dimension of the input each of the output is. False: it is no constant, or fits no such input.
bool TransposeOrder(const mslite_node &node, std::vector<int64_t> *order);

// Whether PadFusion adds a constant.
bool PadsWithConstant(const mslite_node &node);

// Of PadFusion: elements in front of and behind each dimension. False: they are no constants, negative, or fit no such
// output.
bool ReadPads(const mslite_node &node, std::vector<int64_t> *begin, std::vector<int64_t> *end);

// Of ReduceFusion, ascending. False: they are no constants, or not there.
bool ReduceAxes(const mslite_node &node, std::vector<int64_t> *axes);

// Of L2NormalizeFusion and LpNormalization; none: one of them is not there.
std::vector<int64_t> NormAxes(const mslite_node &node);

// The dimensions [begin, end).
std::vector<int64_t> AxisRange(int32_t begin, int32_t end);

// The first dimension of x that parameters of rows from `axis` on go with: they are as many as the last dimensions have
// elements, and repeat for those in front of them. -1: they do not.
int32_t ParameterAxis(const mslite_tensor &x, int32_t axis, int64_t count);

// BatchNorm and FusedBatchNorm as a factor and an offset for each channel. False: the statistics are no constants of
// float32.
bool FoldBatchNorm(const mslite_node &node, std::vector<float> *factor, std::vector<float> *offset);

// The padding behind the input with which windows that must lie within give the output's size; 0 where the last one
// ends before.
int64_t PaddingBehind(const mslite_axis &axis);

struct Resized {
  mslite_resize_plan plan;
  std::vector<int32_t> axes;  // those that change, ascending
};

// Of Resize and ResizeND. False: a size is no constant.
bool ReadResize(const mslite_node &node, Resized *resized);
}  // namespace mslite

#endif
