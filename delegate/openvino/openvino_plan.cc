#include "openvino/openvino_plan.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "model/message.h"
#include "openvino/operators/families.h"

namespace mslite {
namespace {
// Returns the value of a tensor in the model's layout. Transposes the NCHW value if only that exists.
OpenVinoValue ValueOf(const Part &part, int32_t tensor, OpenVinoDraft *draft) {
  if (const auto known = draft->values.find(tensor); known != draft->values.end()) return known->second;
  const mslite_tensor &value = part.tensors[static_cast<size_t>(tensor)].value;
  OpenVinoValue made;
  if (const auto image = draft->images.find(tensor); image != draft->images.end()) {
    const std::vector<int64_t> order = {0, 2, 3, 1};
    const OpenVinoValue permutation = draft->ir.Constant("i64", {4}, order.data(), order.size() * sizeof(int64_t));
    made = draft->ir.Layer("Transpose", "opset1", {image->second, permutation});
  } else {
    made = draft->ir.Constant(OpenVinoType(value.type), DimsOf(value), value.data, static_cast<size_t>(BytesOf(value)));
  }
  return draft->values[tensor] = made;
}
OpenVinoValue KnownValue(const mslite_tensor &tensor, OpenVinoDraft *draft) {
  const std::vector<uint8_t> bytes = KnownContents(tensor);
  return draft->ir.Constant(OpenVinoType(tensor.type), DimsOf(tensor), bytes.data(), bytes.size());
}
}  // namespace

OpenVinoValue OpenVinoPlan::Input(int32_t index) {
  return ValueOf(part_, entry_.inputs[static_cast<size_t>(index)], draft_);
}

void OpenVinoPlan::Give(OpenVinoValue value, int32_t output) {
  draft_->values[entry_.outputs[static_cast<size_t>(output)]] = value;
}

OpenVinoValue OpenVinoPlan::Image(int32_t index) {
  const int32_t tensor = entry_.inputs[static_cast<size_t>(index)];
  if (const auto known = draft_->images.find(tensor); known != draft_->images.end()) return known->second;
  return draft_->images[tensor] = Transposed(Input(index), {0, 3, 1, 2});
}

void OpenVinoPlan::GiveImage(OpenVinoValue value, int32_t output) {
  draft_->images[entry_.outputs[static_cast<size_t>(output)]] = value;
}

OpenVinoValue OpenVinoPlan::Layer(const char *type, const std::vector<OpenVinoValue> &inputs,
                                  const Attributes &attributes, const char *opset, int32_t outputs) {
  return draft_->ir.Layer(type, opset, inputs, attributes, outputs);
}

OpenVinoValue OpenVinoPlan::Reals(const Dims &dims, const std::vector<float> &numbers) {
  return draft_->ir.Constant("f32", dims, numbers.data(), numbers.size() * sizeof(float));
}

OpenVinoValue OpenVinoPlan::Integers(const std::vector<int64_t> &numbers) {
  return draft_->ir.Constant("i64", {static_cast<int64_t>(numbers.size())}, numbers.data(),
                             numbers.size() * sizeof(int64_t));
}

OpenVinoValue OpenVinoPlan::Integer(int64_t number) { return draft_->ir.Constant("i64", {}, &number, sizeof number); }

OpenVinoValue OpenVinoPlan::Indices(const std::vector<int32_t> &numbers) {
  return draft_->ir.Constant("i32", {static_cast<int64_t>(numbers.size())}, numbers.data(),
                             numbers.size() * sizeof(int32_t));
}

OpenVinoValue OpenVinoPlan::Number(int32_t type, double number) {
  if (type == MSLITE_FLOAT32) return Real(number);
  if (type == MSLITE_INT64) return Integer(static_cast<int64_t>(number));
  const auto whole = static_cast<int32_t>(number);
  return draft_->ir.Constant("i32", {}, &whole, sizeof whole);
}

OpenVinoValue OpenVinoPlan::Binary(const char *type, OpenVinoValue a, OpenVinoValue b, const char *opset) {
  return Layer(type, {a, b}, {{"auto_broadcast", "numpy"}}, opset);
}

OpenVinoValue OpenVinoPlan::Selected(OpenVinoValue condition, OpenVinoValue a, OpenVinoValue b) {
  return Layer("Select", {condition, a, b}, {{"auto_broadcast", "numpy"}});
}

OpenVinoValue OpenVinoPlan::Transposed(OpenVinoValue x, const std::vector<int64_t> &permutation) {
  return Layer("Transpose", {x, Integers(permutation)});
}

OpenVinoValue OpenVinoPlan::Reshaped(OpenVinoValue x, const Dims &dims) {
  // Reshapes to a scalar in two steps: OpenVINO 2026.4 crashes if the output of a MatMul is reshaped to a scalar
  // directly.
  if (dims.empty()) return Layer("Squeeze", {Reshaped(x, {1}), Integers({0})});
  return Layer("Reshape", {x, Integers(dims)}, {{"special_zero", "false"}});
}

bool IsFusedActivation(int32_t activation) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_LINEAR:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
    case MSLITE_ACTIVATION_TYPE_TANH:
    case MSLITE_ACTIVATION_TYPE_ABS:
    case MSLITE_ACTIVATION_TYPE_SIGN:
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
    case MSLITE_ACTIVATION_TYPE_SELU:
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
    case MSLITE_ACTIVATION_TYPE_SWISH:
    case MSLITE_ACTIVATION_TYPE_GELU:
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
      return true;
    default:
      return false;
  }
}

OpenVinoValue OpenVinoPlan::Activated(OpenVinoValue x, int32_t activation) {
  const auto clamped = [&](double low, double high) {
    return Layer("Clamp", {x}, {{"min", TextOf(low)}, {"max", TextOf(high)}});
  };
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return Layer("ReLU", {x});
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return clamped(0, 6);
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return clamped(-1, 1);
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return Layer("Sigmoid", {x});
    case MSLITE_ACTIVATION_TYPE_TANH:
      return Layer("Tanh", {x});
    case MSLITE_ACTIVATION_TYPE_ABS:
      return Layer("Abs", {x});
    case MSLITE_ACTIVATION_TYPE_SIGN:
      return Layer("Sign", {x});
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
      return Layer("SoftSign", {x}, {}, "opset9");
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      return Layer("SoftPlus", {x}, {}, "opset4");
    case MSLITE_ACTIVATION_TYPE_SELU:
      return Layer("Selu", {x, Real(1.6732632423543772), Real(1.0507009873554805)});
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return Layer("HSwish", {x}, {}, "opset4");
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      return Layer("HSigmoid", {x}, {}, "opset5");
    case MSLITE_ACTIVATION_TYPE_SWISH:
      return Layer("Swish", {x}, {}, "opset4");
    case MSLITE_ACTIVATION_TYPE_GELU:
      return Layer("Gelu", {x}, {{"approximation_mode", "ERF"}}, "opset7");
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
      return Layer("Gelu", {x}, {{"approximation_mode", "TANH"}}, "opset7");
    default:  // no activation, or a linear one
      return x;
  }
}

const OpenVinoOperator *FindOpenVinoOperator(int32_t op) {
  for (const OpenVinoFamily family : kOpenVinoFamilies) {
    for (const OpenVinoOperator *entry = family(); entry->plan != nullptr; ++entry) {
      if (entry->op == op) return entry;
    }
  }
  return nullptr;
}

Status WriteOpenVinoPart(const Part &part, OpenVinoDraft *draft) {
  for (const int32_t input : part.inputs) {
    const mslite_tensor &tensor = part.tensors[static_cast<size_t>(input)].value;
    draft->values[input] = draft->ir.Parameter(OpenVinoType(tensor.type), DimsOf(tensor));
  }
  for (const Part::Node &node : part.nodes) {
    const Part::Call call(part, node);
    draft->ir.Begin(node.name);
    if (IsKnown(call.node())) {
      for (int32_t i = 0; i < call.node().output_count; ++i) {
        draft->values[node.outputs[static_cast<size_t>(i)]] = KnownValue(*call.node().outputs[i], draft);
      }
      continue;
    }
    const OpenVinoOperator *entry = FindOpenVinoOperator(node.op);
    const std::string reason = entry == nullptr ? "no layer" : entry->why_not(call.node());
    if (!reason.empty()) return Fail(mindspore::kLiteNotSupport, "node '" + node.name + "': " + reason);
    OpenVinoPlan plan(part, node, call.node(), draft);
    entry->plan(&plan);
  }
  for (const int32_t output : part.outputs) {
    OpenVinoValue value = ValueOf(part, output, draft);
    // OpenVINO's CPU device does not write an output that is directly an input of the model.
    if (value.layer < static_cast<int32_t>(part.inputs.size())) {
      const OpenVinoIr::Dims dims = DimsOf(part.tensors[static_cast<size_t>(output)].value);
      const OpenVinoValue shape =
          draft->ir.Constant("i64", {static_cast<int64_t>(dims.size())}, dims.data(), dims.size() * sizeof(int64_t));
      value = draft->ir.Layer("Reshape", "opset1", {value, shape}, {{"special_zero", "false"}});
    }
    draft->ir.Result(value);
  }
  for (const auto &[node, is_met] : draft->faults) draft->ir.Result(is_met);
  return mindspore::kSuccess;
}

const char *OpenVinoType(int32_t type) {
  switch (type) {
    case MSLITE_FLOAT32:
      return "f32";
    case MSLITE_INT32:
      return "i32";
    case MSLITE_INT64:
      return "i64";
    case MSLITE_BOOL:
      return "boolean";
    default:
      return nullptr;
  }
}

bool FitsIn32Bits(const mslite_tensor &tensor, const void *contents) {
  if (tensor.type != MSLITE_INT64 || contents == nullptr) return true;
  const auto *numbers = static_cast<const int64_t *>(contents);
  return std::all_of(numbers, numbers + CountIn(tensor),
                     [](int64_t number) { return number >= INT32_MIN && number <= INT32_MAX; });
}

OpenVinoIr::Dims DimsOf(const mslite_tensor &tensor) { return {tensor.dims, tensor.dims + tensor.rank}; }

std::vector<float> FloatsOf(const mslite_tensor &tensor) {
  std::vector<float> numbers(static_cast<size_t>(CountIn(tensor)));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.data, numbers.size() * sizeof(float));
  return numbers;
}

std::string TextOf(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}
}  // namespace mslite
