#include "nnapi/nnapi_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/message.h"
#include "nnapi/operators/families.h"

namespace mslite {
namespace {
constexpr int32_t kMaxDimensions = 4;

bool HasOneScale(const mslite_tensor &tensor) { return tensor.quant_count == 1; }

// Converts the data type and scales to those of NNAPI. Returns the reason if NNAPI does not support them, else "".
std::string Describe(const mslite_tensor &tensor, NnapiOperand *operand) {
  for (const int64_t dim : NnapiDims(tensor)) {
    if (dim <= 0 || dim > std::numeric_limits<int32_t>::max()) return "a tensor is empty";
    operand->dims.push_back(static_cast<uint32_t>(dim));
  }
  for (int32_t i = 0; i < tensor.quant_count; ++i) {
    if (tensor.quant[i].rounds_even != 0) return "NNAPI does not round half to even";
  }
  switch (tensor.type) {
    case MSLITE_FLOAT32:
      operand->type = NNAPI_TENSOR_FLOAT32;
      return "";
    case MSLITE_INT32:
    case MSLITE_INT64:  // only constants and sizes, which are converted to int32
      operand->type = NNAPI_TENSOR_INT32;
      return "";
    case MSLITE_BOOL:
      operand->type = NNAPI_TENSOR_BOOL8;
      return "";
    case MSLITE_INT8:
    case MSLITE_UINT8:
      break;
    default:
      return "NNAPI does not support the data type";
  }
  if (HasOneScale(tensor)) {
    operand->type = tensor.type == MSLITE_INT8 ? NNAPI_TENSOR_QUANT8_ASYMM_SIGNED : NNAPI_TENSOR_QUANT8_ASYMM;
    operand->scale = static_cast<float>(tensor.quant[0].scale);
    operand->zero_point = tensor.quant[0].zero_point;
    return "";
  }
  if (tensor.quant_count < 2 || tensor.type != MSLITE_INT8) return "8-bit integers without a scale";
  operand->type = NNAPI_TENSOR_QUANT8_SYMM_PER_CHANNEL;
  for (int32_t i = 0; i < tensor.quant_count; ++i) {
    if (tensor.quant[i].zero_point != 0) return "weights with a zero point for each channel";
    operand->scales.push_back(static_cast<float>(tensor.quant[i].scale));
  }
  return "";
}

// Converts int64 data to int32.
std::string Narrowed(const void *contents, int64_t count, std::vector<uint8_t> *bytes) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = 0;
    std::memcpy(&number, static_cast<const uint8_t *>(contents) + i * 8, sizeof number);
    if (number < INT32_MIN || number > INT32_MAX) return "an int64 value is outside 32 bits";
    const auto narrow = static_cast<int32_t>(number);
    const auto *first = reinterpret_cast<const uint8_t *>(&narrow);
    bytes->insert(bytes->end(), first, first + sizeof narrow);
  }
  return "";
}

std::string WhyNotOperand(const mslite_tensor &tensor, const NnapiOperator &entry) {
  NnapiOperand operand;
  if (tensor.rank > kMaxDimensions && !entry.takes_any_rank) return "the rank is above 4";
  if (tensor.type == MSLITE_INT64) return "NNAPI does not support int64";
  if (std::string reason = Describe(tensor, &operand); !reason.empty()) return reason;
  return IsStored(tensor) && !entry.is_stored ? "quantized tensors: the operator is only supported for float" : "";
}
}  // namespace

std::vector<int64_t> NnapiDims(const mslite_tensor &tensor) {
  if (tensor.rank <= 0) return {1};
  std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.rank);
  while (static_cast<int32_t>(dims.size()) > kMaxDimensions) {
    dims[1] *= dims[0];
    dims.erase(dims.begin());
  }
  return dims;
}

bool IsStored(const mslite_tensor &tensor) { return tensor.type == MSLITE_INT8 || tensor.type == MSLITE_UINT8; }

std::string WhyNotMoved(const mslite_node &node) {
  const mslite_tensor &x = *node.inputs[0];
  const mslite_tensor &y = *node.outputs[0];
  if (x.type != y.type) return "the output has another data type than the input";
  if (x.type == MSLITE_BOOL || x.type == MSLITE_INT64) return "NNAPI does not support the data type";
  if (!IsStored(x)) return "";
  const bool is_same = HasOneScale(x) && HasOneScale(y) && x.quant[0].scale == y.quant[0].scale &&
                       x.quant[0].zero_point == y.quant[0].zero_point;
  return is_same ? "" : "the output has another scale than the input";
}

std::vector<uint8_t> TransposedWeights(const mslite_tensor &tensor, int64_t rows, int64_t columns) {
  const int64_t bytes = mslite_type_size(tensor.type);
  std::vector<uint8_t> moved(static_cast<size_t>(rows * columns * bytes));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      std::memcpy(moved.data() + (column * rows + row) * bytes,
                  static_cast<const uint8_t *>(tensor.data) + (row * columns + column) * bytes,
                  static_cast<size_t>(bytes));
    }
  }
  return moved;
}

NnapiValue NnapiPlan::Add(NnapiOperand operand) {
  draft_->graph.operands.push_back(std::move(operand));
  return static_cast<NnapiValue>(draft_->graph.operands.size() - 1);
}

NnapiValue NnapiPlan::Constant(NnapiOperand operand) { return Add(std::move(operand)); }

NnapiValue NnapiPlan::Constant(NnapiOperand operand, std::vector<uint8_t> bytes) {
  const std::vector<uint8_t> &kept = draft_->graph.own.emplace_back(std::move(bytes));
  operand.contents = kept.data();
  operand.bytes = kept.size();
  return Add(std::move(operand));
}

namespace {
template <typename T>
std::vector<uint8_t> BytesOf(const std::vector<T> &numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

NnapiOperand TensorOf(NnapiType type, const std::vector<int64_t> &dims) {
  NnapiOperand operand;
  operand.type = type;
  for (const int64_t dim : dims) operand.dims.push_back(static_cast<uint32_t>(dim));
  return operand;
}
}  // namespace

NnapiValue NnapiPlan::Whole(int64_t number) {
  return Constant(TensorOf(NNAPI_INT32, {}), BytesOf(std::vector<int32_t>{static_cast<int32_t>(number)}));
}

NnapiValue NnapiPlan::Real(double number) {
  return Constant(TensorOf(NNAPI_FLOAT32, {}), BytesOf(std::vector<float>{static_cast<float>(number)}));
}

NnapiValue NnapiPlan::Truth(bool is_true) {
  return Constant(TensorOf(NNAPI_BOOL, {}), {static_cast<uint8_t>(is_true ? 1 : 0)});
}

NnapiValue NnapiPlan::Integers(const Dims &numbers) {
  return Integers({static_cast<int64_t>(numbers.size())}, numbers);
}

NnapiValue NnapiPlan::Integers(const Dims &dims, const Dims &numbers) {
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  return Constant(TensorOf(NNAPI_TENSOR_INT32, dims), BytesOf(narrow));
}

NnapiValue NnapiPlan::Reals(const Dims &dims, const std::vector<float> &numbers) {
  return Constant(TensorOf(NNAPI_TENSOR_FLOAT32, dims), BytesOf(numbers));
}

NnapiValue NnapiPlan::Input(int32_t index) {
  const mslite_tensor &tensor = *node_.inputs[index];
  if (const auto known = draft_->values.find(&tensor); known != draft_->values.end()) return known->second;
  NnapiOperand operand;
  Describe(tensor, &operand);
  NnapiValue value = 0;
  const bool is_known = tensor.data == nullptr && tensor.known_count == CountIn(tensor);
  if (tensor.type == MSLITE_INT64 && (tensor.data != nullptr || is_known)) {
    std::vector<uint8_t> bytes;
    const std::vector<uint8_t> known = is_known ? KnownContents(tensor) : std::vector<uint8_t>();
    Narrowed(is_known ? known.data() : tensor.data, CountIn(tensor), &bytes);
    value = Constant(std::move(operand), std::move(bytes));
  } else if (tensor.data == nullptr) {
    value = Add(std::move(operand));
    draft_->graph.inputs.push_back(value);
  } else {
    operand.contents = tensor.data;
    operand.bytes = static_cast<size_t>(mslite::BytesOf(tensor));
    value = Constant(std::move(operand));
  }
  return draft_->values[&tensor] = value;
}

void NnapiPlan::Give(NnapiValue value, int32_t output) {
  const std::vector<uint32_t> &entered = draft_->graph.inputs;
  const bool is_result =
      operand(value).contents == nullptr && std::find(entered.begin(), entered.end(), value) == entered.end();
  // NNAPI requires that an output of the graph is the output of an operation.
  if (!is_result)
    value = LayerLike(NNAPI_RESHAPE, {value, Integers(NnapiDims(*node_.outputs[output]))}, *node_.outputs[output]);
  draft_->values[node_.outputs[output]] = value;
}

NnapiValue NnapiPlan::Layer(NnapiCode code, const std::vector<NnapiValue> &inputs, const Dims &dims, NnapiType type) {
  const NnapiValue y = Add(TensorOf(type, dims));
  draft_->graph.operations.push_back({code, inputs, {y}});
  return y;
}

NnapiValue NnapiPlan::LayerLike(NnapiCode code, const std::vector<NnapiValue> &inputs, const mslite_tensor &like) {
  NnapiOperand operand;
  Describe(like, &operand);
  const NnapiValue y = Add(std::move(operand));
  draft_->graph.operations.push_back({code, inputs, {y}});
  return y;
}

void NnapiPlan::LayerOfOutputs(NnapiCode code, const std::vector<NnapiValue> &inputs) {
  NnapiOperation operation = {code, inputs, {}};
  for (int32_t i = 0; i < node_.output_count; ++i) {
    NnapiOperand operand;
    Describe(*node_.outputs[i], &operand);
    operation.outputs.push_back(Add(std::move(operand)));
    Give(operation.outputs.back(), i);
  }
  draft_->graph.operations.push_back(std::move(operation));
}

NnapiValue NnapiPlan::Reshaped(NnapiValue x, const Dims &dims) {
  NnapiOperand result = operand(x);
  result.contents = nullptr;
  result.dims.assign(dims.begin(), dims.end());
  if (result.dims == operand(x).dims) return x;
  const NnapiValue shape = Integers(dims);
  const NnapiValue y = Add(std::move(result));
  draft_->graph.operations.push_back({NNAPI_RESHAPE, {x, shape}, {y}});
  return y;
}

NnapiValue NnapiPlan::Binary(NnapiCode code, NnapiValue a, NnapiValue b, const Dims &dims) {
  const bool has_fuse = code == NNAPI_ADD || code == NNAPI_SUB || code == NNAPI_MUL || code == NNAPI_DIV;
  if (!has_fuse) return Layer(code, {a, b}, dims);
  return Layer(code, {a, b, Whole(NNAPI_FUSED_NONE)}, dims);
}

bool FusedNnapiActivation(int32_t activation, NnapiFuse *fuse) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_LINEAR:
      *fuse = NNAPI_FUSED_NONE;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU:
      *fuse = NNAPI_FUSED_RELU;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU1:
      *fuse = NNAPI_FUSED_RELU1;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU6:
      *fuse = NNAPI_FUSED_RELU6;
      return true;
    default:
      *fuse = NNAPI_FUSED_NONE;
      return false;
  }
}

bool IsNnapiActivation(int32_t activation) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_LINEAR:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
    case MSLITE_ACTIVATION_TYPE_TANH:
    case MSLITE_ACTIVATION_TYPE_ABS:
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
    case MSLITE_ACTIVATION_TYPE_SWISH:
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
    case MSLITE_ACTIVATION_TYPE_SELU:
    case MSLITE_ACTIVATION_TYPE_GELU:
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
      return true;
    default:
      return false;
  }
}

NnapiValue NnapiPlan::Activated(NnapiValue x, int32_t activation, const Dims &dims) {
  const auto plus = [&](NnapiValue a, double b) { return Binary(NNAPI_ADD, a, Number(b), dims); };
  const auto times = [&](NnapiValue a, double b) { return Binary(NNAPI_MUL, a, Number(b), dims); };
  const auto product = [&](NnapiValue a, NnapiValue b) { return Binary(NNAPI_MUL, a, b, dims); };
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return Layer(NNAPI_RELU, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return Layer(NNAPI_RELU1, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return Layer(NNAPI_RELU6, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return Layer(NNAPI_LOGISTIC, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_TANH:
      return Layer(NNAPI_TANH, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_ABS:
      return Layer(NNAPI_ABS, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return Layer(NNAPI_HARD_SWISH, {x}, dims);
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      return times(Layer(NNAPI_RELU6, {plus(x, 3)}, dims), 1.0 / 6);
    case MSLITE_ACTIVATION_TYPE_SWISH:
      return product(x, Layer(NNAPI_LOGISTIC, {x}, dims));
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
      return Binary(NNAPI_DIV, x, plus(Layer(NNAPI_ABS, {x}, dims), 1), dims);
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS: {
      // max(x, 0) + log(1 + exp(-|x|)), so that the exponential does not overflow.
      const NnapiValue power = Layer(NNAPI_EXP, {Layer(NNAPI_NEG, {Layer(NNAPI_ABS, {x}, dims)}, dims)}, dims);
      return Binary(NNAPI_ADD, Layer(NNAPI_RELU, {x}, dims), Layer(NNAPI_LOG, {plus(power, 1)}, dims), dims);
    }
    case MSLITE_ACTIVATION_TYPE_SELU:
      return times(Layer(NNAPI_ELU, {x, Real(1.6732632423543772)}, dims), 1.0507009873554805);
    case MSLITE_ACTIVATION_TYPE_GELU:
      return times(product(x, plus(ErrorFunction(times(x, 0.7071067811865476), dims), 1)), 0.5);
    case MSLITE_ACTIVATION_TYPE_FAST_GELU: {
      const NnapiValue cubic = product(x, plus(times(product(x, x), 0.044715), 1));
      const NnapiValue tanh = Layer(NNAPI_TANH, {times(cubic, 0.7978845608028654)}, dims);
      return times(product(x, plus(tanh, 1)), 0.5);
    }
    default:  // no activation, or a linear one
      return x;
  }
}

NnapiValue NnapiPlan::ErrorFunction(NnapiValue x, const Dims &dims) {
  const auto plus = [&](NnapiValue a, double b) { return Binary(NNAPI_ADD, a, Number(b), dims); };
  const auto times = [&](NnapiValue a, double b) { return Binary(NNAPI_MUL, a, Number(b), dims); };
  const auto product = [&](NnapiValue a, NnapiValue b) { return Binary(NNAPI_MUL, a, b, dims); };
  const NnapiValue t = Binary(NNAPI_DIV, Number(1), plus(times(Layer(NNAPI_ABS, {x}, dims), 0.3275911), 1), dims);
  constexpr double kFactors[] = {-1.453152027, 1.421413741, -0.284496736, 0.254829592};
  NnapiValue sum = times(t, 1.061405429);
  for (const double factor : kFactors) sum = product(plus(sum, factor), t);
  const NnapiValue tail = product(sum, Layer(NNAPI_EXP, {Layer(NNAPI_NEG, {product(x, x)}, dims)}, dims));
  const NnapiValue right = Binary(NNAPI_SUB, Number(1), tail, dims);
  const NnapiValue is_left = Layer(NNAPI_LESS, {x, Number(0)}, dims, NNAPI_TENSOR_BOOL8);
  return Layer(NNAPI_SELECT, {is_left, Layer(NNAPI_NEG, {right}, dims), right}, dims);
}

const NnapiOperator *FindNnapiOperator(int32_t op) {
  for (const NnapiFamily family : kNnapiFamilies) {
    for (const NnapiOperator *entry = family(); entry->plan != nullptr; ++entry) {
      if (entry->op == op) return entry;
    }
  }
  return nullptr;
}

std::string WriteNnapiNode(const mslite_node &node, NnapiDraft *draft) {
  if (IsKnown(node)) {
    NnapiPlan plan(node, draft);
    for (int32_t i = 0; i < node.output_count; ++i) {
      const mslite_tensor &tensor = *node.outputs[i];
      NnapiOperand operand;
      if (std::string reason = Describe(tensor, &operand); !reason.empty()) return reason;
      std::vector<uint8_t> bytes = KnownContents(tensor);
      std::vector<uint8_t> narrow;
      if (tensor.type == MSLITE_INT64) Narrowed(bytes.data(), CountIn(tensor), &narrow);
      draft->values[&tensor] =
          plan.Constant(std::move(operand), tensor.type == MSLITE_INT64 ? std::move(narrow) : std::move(bytes));
    }
    return "";
  }
  const NnapiOperator *entry = FindNnapiOperator(node.op);
  if (entry == nullptr) return "the backend does not support the operator";
  for (int32_t i = 0; i < node.input_count; ++i) {
    const mslite_tensor &tensor = *node.inputs[i];
    // Sizes and axes are read now. They are not operands of the graph.
    if (tensor.type == MSLITE_INT64 && i > 0) continue;
    if (std::string reason = WhyNotOperand(tensor, *entry); !reason.empty()) return reason;
  }
  for (int32_t i = 0; i < node.output_count; ++i) {
    if (std::string reason = WhyNotOperand(*node.outputs[i], *entry); !reason.empty()) return reason;
  }
  NnapiPlan plan(node, draft);
  return entry->plan(&plan);
}

std::string WriteNnapiAlone(const mslite_node &node, NnapiGraph *graph) {
  NnapiDraft draft;
  if (std::string reason = WriteNnapiNode(node, &draft); !reason.empty()) return reason;
  for (int32_t i = 0; i < node.output_count; ++i) {
    const NnapiValue value = draft.values.at(node.outputs[i]);
    if (draft.graph.operands[value].contents == nullptr) draft.graph.outputs.push_back(value);
  }
  *graph = std::move(draft.graph);
  return "";
}

Status WriteNnapiPart(const Part &part, NnapiGraph *graph, GraphBoundary *border) {
  NnapiDraft draft;
  for (const Part::Node &node : part.nodes) {
    const Part::Call call(part, node);
    const std::string reason = WriteNnapiNode(call.node(), &draft);
    if (!reason.empty()) return Fail(mindspore::kLiteNotSupport, "node '" + node.name + "': " + reason);
  }
  MSLITE_TRY(MeetBorder(part, &draft, border));
  *graph = std::move(draft.graph);
  return mindspore::kSuccess;
}
}  // namespace mslite
