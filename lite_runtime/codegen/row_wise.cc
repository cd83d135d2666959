// Calls that can compute a part of their output rows.
#include <algorithm>

#include "codegen/kernel_call.h"
#include "convolution/geometry.h"
#include "pooling/geometry.h"

namespace mslite::codegen {
namespace {

// Window, stride, padding and dilation of a convolution or pooling.
struct Windows {
  mslite_axis height = {};
  mslite_axis width = {};
};

bool ResolveWindows(const mslite_node &call, Windows *windows) {
  if (call.op == MSLITE_OP_Conv2DFusion) {
    mslite_convolution geometry = {};
    if (mslite_convolution_of(&call, &geometry) != MSLITE_OK) return false;
    *windows = {geometry.height, geometry.width};
    return true;
  }
  mslite_pooling geometry = {};
  if (mslite_pooling_resolve(call.op, call.params, call.inputs[0], &geometry, nullptr) != MSLITE_OK) return false;
  *windows = {geometry.height, geometry.width};
  return true;
}

bool IsGlobal(const mslite_node &call) {
  if (call.op == MSLITE_OP_AvgPoolFusion) return static_cast<const mslite_AvgPoolFusion *>(call.params)->global;
  if (call.op == MSLITE_OP_MaxPoolFusion) return static_cast<const mslite_MaxPoolFusion *>(call.params)->global;
  return false;
}

bool HasWindows(int32_t op) {
  return op == MSLITE_OP_Conv2DFusion || op == MSLITE_OP_AvgPoolFusion || op == MSLITE_OP_MaxPoolFusion;
}

// Whether the call is element-wise, with two inputs of the output's shape that are not constants.
bool IsElementwise(const mslite_node &call) {
  if (call.op != MSLITE_OP_AddFusion && call.op != MSLITE_OP_SubFusion && call.op != MSLITE_OP_MulFusion) return false;
  if (call.input_count != 2) return false;
  const mslite_tensor &y = *call.outputs[0];
  return std::all_of(call.inputs, call.inputs + 2, [&](const mslite_tensor *x) {
    return x->data == nullptr && x->rank == y.rank && std::equal(y.dims, y.dims + y.rank, x->dims);
  });
}

// The parameters of a convolution or pooling for a band, with explicit padding.
class BandParams {
 public:
  BandParams(const mslite_node &call, const Windows &windows, const Band &band)
      : pads_{band.pad_before, band.pad_after, windows.width.pad_before, windows.width.pad_after} {
    const mslite_longs list = {4, pads_};
    if (call.op == MSLITE_OP_Conv2DFusion) {
      convolution_ = *static_cast<const mslite_Conv2DFusion *>(call.params);
      convolution_.pad_mode = MSLITE_PAD_MODE_PAD;
      convolution_.pad_list = list;
      params = &convolution_;
    } else if (call.op == MSLITE_OP_AvgPoolFusion) {
      SetPool(call, list, &average_);
    } else {
      SetPool(call, list, &maximum_);
    }
  }
  BandParams(const BandParams &) = delete;
  BandParams &operator=(const BandParams &) = delete;

  const void *params = nullptr;

 private:
  template <typename Params>
  void SetPool(const mslite_node &call, const mslite_longs &list, Params *pool) {
    *pool = *static_cast<const Params *>(call.params);
    pool->pad_mode = MSLITE_PAD_MODE_PAD;
    pool->round_mode = MSLITE_ROUND_MODE_FLOOR;
    pool->pad = list;
    params = pool;
  }

  int64_t pads_[4];
  mslite_Conv2DFusion convolution_ = {};
  mslite_AvgPoolFusion average_ = {};
  mslite_MaxPoolFusion maximum_ = {};
};

}  // namespace

RowWise RowsOf(const mslite_node &call) {
  if (call.input_count < 1 || call.output_count != 1) return {};
  const mslite_tensor &x = *call.inputs[0];
  const mslite_tensor &y = *call.outputs[0];
  if (x.rank != 4 || y.rank != 4 || x.dims[0] != 1 || x.data != nullptr) return {};
  if (IsElementwise(call)) return {1, 1, 0};
  for (int32_t i = 1; i < call.input_count; ++i) {
    if (call.inputs[i]->data == nullptr) return {};
  }
  if (call.op == MSLITE_OP_Activation) return {1, 1, 0};
  Windows windows;
  if (!HasWindows(call.op) || IsGlobal(call) || !ResolveWindows(call, &windows)) return {};
  return {mslite_axis_span(&windows.height), windows.height.stride, windows.height.pad_before};
}

bool CutRows(const CodegenPlan &plan, size_t step, const Band &band, CodegenStep *cut) {
  const PlannedStep &whole = StepOf(plan, step);
  const KernelCall described(whole);
  if (RowsOf(described.node).extent == 0) return false;
  mslite_tensor y = *described.node.outputs[0];
  y.dims[1] = band.rows_out;
  std::vector<const mslite_tensor *> operands = described.operands;
  mslite_tensor sources[2];
  const int32_t source_count = IsElementwise(described.node) ? 2 : 1;
  for (int32_t i = 0; i < source_count; ++i) {
    sources[i] = *operands[static_cast<size_t>(i)];
    sources[i].dims[1] = band.rows_in;
    operands[static_cast<size_t>(i)] = &sources[i];
  }
  operands.back() = &y;
  mslite_node call = described.node;
  call.inputs = operands.data();
  call.outputs = operands.data() + call.input_count;
  Windows windows;
  if (HasWindows(call.op) && !ResolveWindows(described.node, &windows)) return false;
  const BandParams params(call, windows, band);
  if (HasWindows(call.op)) {
    call.params = params.params;
    if (!ResolveWindows(call, &windows) || windows.height.output != band.rows_out) return false;
  } else if (band.rows_in != band.rows_out || band.pad_before != 0 || band.pad_after != 0) {
    return false;
  }
  const mslite_kernel &kernel = *whole.step->kernel;
  if (kernel.support(&call) <= 0 || !Prepare(kernel, call, cut)) return false;
  for (int32_t i = 0; kernel.pack_size != nullptr && i < call.input_count; ++i) {
    if (kernel.pack_size(&call, i) != kernel.pack_size(&described.node, i)) return false;
  }
  return true;
}

}  // namespace mslite::codegen
