#include "codegen/kernel_support_probe.h"

#include <algorithm>

#include "plan/choose_kernel.h"
#include "plan/kernel_types.h"
#include "plan/shapes.h"

namespace mslite::codegen {
namespace {
constexpr int32_t kOtherTypes[] = {MSLITE_FLOAT64, MSLITE_INT32, MSLITE_INT64, MSLITE_BOOL,
                                   MSLITE_INT8,    MSLITE_UINT8, MSLITE_INT16, MSLITE_STRING};
constexpr int32_t kParameterTypes[] = {MSLITE_INT32, MSLITE_INT64, MSLITE_BOOL, MSLITE_FLOAT32};

constexpr int64_t kBatches[] = {1, 64};
constexpr int64_t kSides[] = {1,  2,  3,  4,  5,  6,  7,  8,   10,  12,  14,  16,  20,
                              24, 28, 32, 40, 56, 64, 80, 112, 160, 224, 320, 512, 1024};

struct Call {
  int32_t op;
  const void *params;
  std::vector<mslite_tensor> inputs;
  std::vector<mslite_tensor> outputs;

  // Returns the call with `type` in place of the type `from` (`is_that`), or of all other types. Contents of tensors
  // whose type changes become unknown.
  Call With(int32_t from, bool is_that, int32_t type) const {
    Call other = *this;
    for (std::vector<mslite_tensor> *list : {&other.inputs, &other.outputs}) {
      for (mslite_tensor &tensor : *list) {
        if ((tensor.type == from) != is_that || tensor.type == type) continue;
        tensor.type = type;
        tensor.data = nullptr;
      }
    }
    return other;
  }
};

bool Takes(const mslite_kernel &kernel, Call call) {
  std::vector<const mslite_tensor *> operands;
  for (const std::vector<mslite_tensor> *list : {&call.inputs, &call.outputs}) {
    for (const mslite_tensor &tensor : *list) operands.push_back(&tensor);
  }
  const auto input_count = static_cast<int32_t>(call.inputs.size());
  const auto output_count = static_cast<int32_t>(call.outputs.size());
  const mslite_node node = {
      call.op, call.params, input_count, output_count, operands.data(), operands.data() + input_count, 0};
  for (const bool are_scalars : {false, true}) {
    for (std::vector<mslite_tensor> *list : {&call.inputs, &call.outputs}) {
      for (mslite_tensor &tensor : *list) AssumeSizes(&tensor, are_scalars);
    }
    if (kernel.support(&node) > 0) return true;
  }
  return false;
}

bool Infer(Call *call, int64_t *next_symbol) {
  std::vector<const mslite_tensor *> inputs;
  inputs.reserve(call->inputs.size());
  for (const mslite_tensor &input : call->inputs) inputs.push_back(&input);
  return InferShapes(call->op, call->params, inputs, &call->outputs, next_symbol).ok();
}

// Whether a kernel does not support a convolution with constant weights for images of any size, so that the reason must
// be its attributes or weights. Returns false if it supports some size, or the call is not a convolution.
bool RefusesImages(const mslite_kernel &kernel, Call call) {
  const bool has_residual = call.op == MSLITE_OP_Conv2DAddFusion;
  if (!has_residual && call.op != MSLITE_OP_Conv2DFusion) return false;
  mslite_tensor &image = call.inputs[0];
  if (image.rank != 4 || image.dims[3] <= 0 || call.inputs.size() < 2 || call.inputs[1].data == nullptr) return false;
  bool was_asked = false;
  for (const int64_t batch : kBatches) {
    for (const int64_t side : kSides) {
      image.dims[0] = batch;
      image.dims[1] = image.dims[2] = side;
      if (has_residual) call.inputs[3].rank = -1;
      int64_t next_symbol = MSLITE_SYMBOL_LIMIT - 1;
      if (!Infer(&call, &next_symbol)) continue;  // smaller than a window
      if (has_residual) call.inputs[3] = call.outputs[0];
      if (Takes(kernel, call)) return false;
      was_asked = true;
    }
  }
  return was_asked;
}

// Whether a kernel does not support float32. Returns false if it does, or if the reason may be another one.
bool RefusesFloat32(const mslite_kernel &kernel, const Call &call) {
  if (Takes(kernel, call)) return false;
  for (const int32_t type : kParameterTypes) {
    if (Takes(kernel, call.With(MSLITE_FLOAT32, false, type))) return false;
  }
  return std::any_of(std::begin(kOtherTypes), std::end(kOtherTypes),
                     [&](int32_t type) { return Takes(kernel, call.With(MSLITE_FLOAT32, true, type)); });
}
}  // namespace

const mslite_tensor &KernelSupportProbe::FactsOf(int32_t index) {
  const auto [place, is_new] = facts_.try_emplace(index, UnknownTensor());
  mslite_tensor &facts = place->second;
  if (!is_new || index < 0) return facts;
  const Tensor &tensor = graph_.tensors[static_cast<size_t>(index)];
  facts.type = tensor.type;
  if ((!tensor.has_rank && tensor.dims.empty() && !tensor.is_constant) || tensor.dims.size() > MSLITE_MAX_RANK) {
    return facts;
  }
  facts.rank = static_cast<int32_t>(tensor.dims.size());
  for (size_t i = 0; i < tensor.dims.size(); ++i) facts.dims[i] = tensor.dims[i] < 0 ? next_symbol_-- : tensor.dims[i];
  if (!tensor.is_constant) return facts;
  facts.data = tensor.data;
  FillKnown(&facts);
  return facts;
}

void KernelSupportProbe::Visit(const Node &node) {
  if (node.params == nullptr) return;
  Call call = {node.op, node.params, {}, std::vector<mslite_tensor>(node.outputs.size())};
  for (const int32_t input : node.inputs) call.inputs.push_back(FactsOf(input));
  const bool is_inferred = Infer(&call, &next_symbol_);
  for (size_t i = 0; is_inferred && i < node.outputs.size(); ++i) facts_[node.outputs[i]] = call.outputs[i];
  const bool is_float = !call.inputs.empty() && call.inputs[0].type == MSLITE_FLOAT32;
  const KernelList kernels = OwnKernels();
  for (int32_t i = 0; i < kernels.count; ++i) {
    const mslite_kernel *kernel = kernels.kernels[i];
    if (kernel->op != node.op || kernel->isa != MSLITE_ISA_SCALAR || kernel->quantized != 0) continue;
    const bool refuses = is_inferred && is_float && (RefusesFloat32(*kernel, call) || RefusesImages(*kernel, call));
    bool &entry = refused_[node.op].try_emplace(kernel->name, true).first->second;
    entry = entry && refuses;
  }
}

std::set<std::string> KernelSupportProbe::Refusing(int32_t op) const {
  std::set<std::string> names;
  const auto place = refused_.find(op);
  if (place == refused_.end()) return names;
  for (const auto &[name, refuses] : place->second) {
    if (refuses) names.insert(name);
  }
  return names;
}
}  // namespace mslite::codegen
