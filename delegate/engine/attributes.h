// Interpretation of attributes and constant inputs of operators, for all backends.
#ifndef MSLITE_DELEGATE_ENGINE_ATTRIBUTES_H
#define MSLITE_DELEGATE_ENGINE_ATTRIBUTES_H

#include <string>
#include <vector>

#include "convolution/window.h"
#include "kernel.h"
#include "resize/resize_plan.h"

namespace mslite {
// Returns "" if all inputs and outputs are float32, else the reason.
std::string CheckFloat32(const mslite_node &node);

// Returns the fused activation of a binary operator, which may be none.
int32_t FusedActivation(const mslite_node &node);

// Returns true for Concat and Stack, false for Split and Unstack.
bool Joins(int32_t op);

// Returns the axis of Concat, Stack, Split or Unstack; negative if it is out of range.
int32_t JoinAxis(const mslite_node &node);

// Returns the axis of Softmax or LogSoftmax.
int32_t SoftmaxAxis(const mslite_node &node);

// Returns the first normalized axis of RmsNorm or LayerNormFusion.
int32_t LayerAxis(const mslite_node &node);

struct ArgAttributes {
  int32_t axis;
  bool is_first_index;  // returns one index and no values
};

// Returns the attributes of ArgMaxFusion or ArgMinFusion.
ArgAttributes ArgOf(const mslite_node &node);

// Returns the axis of Gather; negative if it is out of range or not constant.
int32_t GatherAxis(const mslite_node &node);

// Reads constant indices into a dimension; negative ones are converted. Returns the reason if they are invalid, else
// "".
std::string ConstantIndices(const mslite_tensor &indices, int64_t size, std::vector<int64_t> *places);

// Reads the permutation of Transpose. Returns false if it is not constant or does not match the input.
bool TransposeOrder(const mslite_node &node, std::vector<int64_t> *order);

// Returns true if PadFusion pads with a constant.
bool PadsWithConstant(const mslite_node &node);

// Reads the paddings of PadFusion before and after each dimension. Returns false if they are not constant, are
// negative, or do not match the output.
bool ReadPads(const mslite_node &node, std::vector<int64_t> *begin, std::vector<int64_t> *end);

// Reads the axes of ReduceFusion in ascending order. Returns false if they are not constant or out of range.
bool ReduceAxes(const mslite_node &node, std::vector<int64_t> *axes);

// Returns the axes of L2NormalizeFusion or LpNormalization; empty if one of them is out of range.
std::vector<int64_t> NormAxes(const mslite_node &node);

// Returns the axes [begin, end).
std::vector<int64_t> AxisRange(int32_t begin, int32_t end);

// Returns the first dimension d of x, at or after `axis`, such that the dimensions from d on have `count` elements:
// parameters of this size repeat for the dimensions before d. Returns -1 if there is none.
int32_t ParameterAxis(const mslite_tensor &x, int32_t axis, int64_t count);

// Converts BatchNorm or FusedBatchNorm to a factor and an offset for each channel. Returns false if the statistics are
// not float32 constants.
bool FoldBatchNorm(const mslite_node &node, std::vector<float> *factor, std::vector<float> *offset);

// Returns the padding at the end for which windows without further padding give the output size; 0 if the last window
// ends before the end of the input.
int64_t PaddingBehind(const mslite_axis &axis);

struct Resized {
  mslite_resize_plan plan;
  std::vector<int32_t> axes;  // resized axes, ascending
};

// Reads the sizes of Resize or ResizeND. Returns false if a size is not constant.
bool ReadResize(const mslite_node &node, Resized *resized);
}  // namespace mslite

#endif
