#include "nnrt/nnrt_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/message.h"
#include "nnrt/operators/families.h"

namespace mslite {
namespace {
// Converts the data type and shape to those of NNRT. Returns the reason if NNRT does not support them, else "".
std::string Describe(const mslite_tensor &tensor, NnrtOperand *operand) {
  if (tensor.quant_count > 0) return "a tensor is quantized";
  for (const int64_t dim : NnrtDims(tensor)) {
    if (dim <= 0 || dim > std::numeric_limits<int32_t>::max()) return "a tensor is empty";
    operand->dims.push_back(static_cast<int32_t>(dim));
  }
  switch (tensor.type) {
    case MSLITE_FLOAT32:
      operand->type = NNRT_FLOAT32;
      return "";
    case MSLITE_INT32:
      operand->type = NNRT_INT32;
      return "";
    case MSLITE_INT64:
      operand->type = NNRT_INT64;
      return "";
    case MSLITE_BOOL:
      operand->type = NNRT_BOOL;
      return "";
    default:
      return "a data type other than float32, int32, int64 and bool";
  }
}

template <typename T>
std::vector<uint8_t> BytesOfNumbers(const std::vector<T> &numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

NnrtOperand OperandOf(NnrtType type, const std::vector<int64_t> &dims, NnrtRole role) {
  NnrtOperand operand;
  operand.type = type;
  operand.dims.assign(dims.begin(), dims.end());
  operand.role = role;
  return operand;
}

std::string WriteNode(const mslite_node &node, NnrtDraft *draft) {
  for (const auto &[tensors, count] : {std::pair(node.inputs, node.input_count), {node.outputs, node.output_count}}) {
    for (int32_t i = 0; i < count; ++i) {
      NnrtOperand operand;
      if (std::string reason = Describe(*tensors[i], &operand); !reason.empty()) return reason;
    }
  }
  if (IsKnown(node)) {
    for (int32_t i = 0; i < node.output_count; ++i) {
      NnrtOperand operand;
      Describe(*node.outputs[i], &operand);
      const std::vector<uint8_t> &kept = draft->graph.own.emplace_back(KnownContents(*node.outputs[i]));
      operand.contents = kept.data();
      operand.bytes = kept.size();
      draft->values[node.outputs[i]] = static_cast<NnrtValue>(draft->graph.operands.size());
      draft->graph.operands.push_back(std::move(operand));
    }
    return "";
  }
  const NnrtOperator *entry = FindNnrtOperator(node.op);
  if (entry == nullptr) return "the backend does not support the operator";
  if (node.quant_type != 0) return "the operator is quantized";
  NnrtPlan plan(node, draft);
  return entry->plan(&plan);
}
}  // namespace

std::vector<int64_t> NnrtDims(const mslite_tensor &tensor) {
  if (tensor.rank <= 0) return {1};
  return {tensor.dims, tensor.dims + tensor.rank};
}

NnrtValue NnrtPlan::Add(NnrtOperand operand) {
  draft_->graph.operands.push_back(std::move(operand));
  return static_cast<NnrtValue>(draft_->graph.operands.size() - 1);
}

NnrtValue NnrtPlan::Constant(NnrtOperand operand, std::vector<uint8_t> bytes) {
  const std::vector<uint8_t> &kept = draft_->graph.own.emplace_back(std::move(bytes));
  operand.contents = kept.data();
  operand.bytes = kept.size();
  return Add(std::move(operand));
}

NnrtValue NnrtPlan::Flag(NnrtRole role, bool is_true) {
  return Constant(OperandOf(NNRT_BOOL, {}, role), {static_cast<uint8_t>(is_true ? 1 : 0)});
}

NnrtValue NnrtPlan::Small(NnrtRole role, int8_t number) {
  return Constant(OperandOf(NNRT_INT8, {}, role), {static_cast<uint8_t>(number)});
}

NnrtValue NnrtPlan::Whole(NnrtRole role, int64_t number) {
  return Constant(OperandOf(NNRT_INT64, {}, role), BytesOfNumbers(Dims{number}));
}

NnrtValue NnrtPlan::Wholes(NnrtRole role, const Dims &numbers) {
  return Constant(OperandOf(NNRT_INT64, {static_cast<int64_t>(numbers.size())}, role), BytesOfNumbers(numbers));
}

NnrtValue NnrtPlan::Real(NnrtRole role, double number) {
  return Constant(OperandOf(NNRT_FLOAT32, {}, role), BytesOfNumbers(std::vector<float>{static_cast<float>(number)}));
}

NnrtValue NnrtPlan::Integers(const Dims &numbers) { return Integers({static_cast<int64_t>(numbers.size())}, numbers); }

NnrtValue NnrtPlan::Integers(const Dims &dims, const Dims &numbers) {
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  return Constant(OperandOf(NNRT_INT32, dims, NNRT_TENSOR), BytesOfNumbers(narrow));
}

NnrtValue NnrtPlan::Reals(const std::vector<float> &numbers) {
  return Constant(OperandOf(NNRT_FLOAT32, {static_cast<int64_t>(numbers.size())}, NNRT_TENSOR),
                  BytesOfNumbers(numbers));
}

NnrtValue NnrtPlan::Input(int32_t index) {
  const mslite_tensor &tensor = *node_.inputs[index];
  if (const auto known = draft_->values.find(&tensor); known != draft_->values.end()) return known->second;
  NnrtOperand operand;
  Describe(tensor, &operand);
  operand.contents = tensor.data;
  if (tensor.data != nullptr) operand.bytes = static_cast<size_t>(BytesOf(tensor));
  const NnrtValue value = Add(std::move(operand));
  if (tensor.data == nullptr) draft_->graph.inputs.push_back(value);
  return draft_->values[&tensor] = value;
}

std::vector<NnrtValue> NnrtPlan::Inputs(int32_t count) {
  std::vector<NnrtValue> values;
  values.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) values.push_back(Input(i));
  return values;
}

void NnrtPlan::Give(NnrtValue value, int32_t output) {
  const std::vector<uint32_t> &entered = draft_->graph.inputs;
  const bool is_entered = std::find(entered.begin(), entered.end(), value) != entered.end();
  // NNRT requires that an output of the graph is the output of an operation.
  if (is_entered || draft_->graph.operands[value].contents != nullptr) {
    const Dims dims = NnrtDims(*node_.outputs[output]);
    value = Layer(NNRT_RESHAPE, {}, {value, Integers(dims)}, dims);
  }
  draft_->values[node_.outputs[output]] = value;
}

NnrtValue NnrtPlan::Layer(NnrtCode code, const std::vector<NnrtValue> &attributes, const std::vector<NnrtValue> &inputs,
                          const Dims &dims) {
  NnrtOperand result;
  Describe(*node_.outputs[0], &result);
  result.dims.assign(dims.begin(), dims.end());
  const NnrtValue y = Add(std::move(result));
  draft_->graph.operations.push_back({code, attributes, inputs, {y}});
  return y;
}

void NnrtPlan::LayerOfOutputs(NnrtCode code, const std::vector<NnrtValue> &attributes,
                              const std::vector<NnrtValue> &inputs) {
  NnrtOperation operation = {code, attributes, inputs, {}};
  for (int32_t i = 0; i < node_.output_count; ++i) {
    NnrtOperand result;
    Describe(*node_.outputs[i], &result);
    operation.outputs.push_back(Add(std::move(result)));
    draft_->values[node_.outputs[i]] = operation.outputs.back();
  }
  draft_->graph.operations.push_back(std::move(operation));
}

NnrtValue NnrtPlan::Reshaped(NnrtValue x, const Dims &dims) {
  const std::vector<int32_t> own = draft_->graph.operands[x].dims;
  if (std::equal(own.begin(), own.end(), dims.begin(), dims.end())) return x;
  return Layer(NNRT_RESHAPE, {}, {x, Integers(dims)}, dims);
}

bool FusedNnrtActivation(int32_t activation, NnrtFuse *fuse) {
  *fuse = activation == MSLITE_ACTIVATION_TYPE_RELU    ? NNRT_FUSED_RELU
          : activation == MSLITE_ACTIVATION_TYPE_RELU6 ? NNRT_FUSED_RELU6
                                                       : NNRT_FUSED_NONE;
  return *fuse != NNRT_FUSED_NONE || activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION ||
         activation == MSLITE_ACTIVATION_TYPE_LINEAR;
}

bool IsNnrtActivation(int32_t activation) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_LINEAR:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
    case MSLITE_ACTIVATION_TYPE_TANH:
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
    case MSLITE_ACTIVATION_TYPE_SWISH:
    case MSLITE_ACTIVATION_TYPE_GELU:
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
    case MSLITE_ACTIVATION_TYPE_ABS:
      return true;
    default:
      return false;
  }
}

NnrtValue NnrtPlan::Activated(NnrtValue x, int32_t activation, const Dims &dims) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return Layer(NNRT_RELU, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return Layer(NNRT_RELU6, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return Layer(NNRT_SIGMOID, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_TANH:
      return Layer(NNRT_TANH, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return Layer(NNRT_HSWISH, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_HSIGMOID: {
      const NnrtValue step = Layer(NNRT_ADD, {Small(NNRT_ADD_ACTIVATION, NNRT_FUSED_RELU6)}, {x, Reals({3})}, dims);
      return Layer(NNRT_MUL, {Small(NNRT_MUL_ACTIVATION, NNRT_FUSED_NONE)}, {step, Reals({1.0f / 6})}, dims);
    }
    case MSLITE_ACTIVATION_TYPE_SWISH:
      return Layer(NNRT_SWISH, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_ABS:
      return Layer(NNRT_ABS, {}, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_GELU:
    case MSLITE_ACTIVATION_TYPE_FAST_GELU: {
      const bool is_fast = activation == MSLITE_ACTIVATION_TYPE_FAST_GELU;
      return Layer(NNRT_GELU, {Flag(NNRT_GELU_APPROXIMATE, is_fast)}, {x}, dims);
    }
    default:  // no activation, or a linear one
      return x;
  }
}

const NnrtOperator *FindNnrtOperator(int32_t op) {
  for (const NnrtFamily family : kNnrtFamilies) {
    for (const NnrtOperator *entry = family(); entry->plan != nullptr; ++entry) {
      if (entry->op == op) return entry;
    }
  }
  return nullptr;
}

std::string WriteNnrtAlone(const mslite_node &node, NnrtGraph *graph) {
  NnrtDraft draft;
  if (std::string reason = WriteNode(node, &draft); !reason.empty()) return reason;
  for (int32_t i = 0; i < node.output_count; ++i) {
    const NnrtValue value = draft.values.at(node.outputs[i]);
    if (draft.graph.operands[value].contents == nullptr) draft.graph.outputs.push_back(value);
  }
  *graph = std::move(draft.graph);
  return "";
}

Status WriteNnrtPart(const Part &part, NnrtGraph *graph, GraphBoundary *border) {
  NnrtDraft draft;
  for (const Part::Node &node : part.nodes) {
    const Part::Call call(part, node);
    const std::string reason = WriteNode(call.node(), &draft);
    if (!reason.empty()) return Fail(mindspore::kLiteNotSupport, "node '" + node.name + "': " + reason);
  }
  MSLITE_TRY(MeetBorder(part, &draft, border));
  *graph = std::move(draft.graph);
  return mindspore::kSuccess;
}
}  // namespace mslite
