#include "coreml/coreml_plan.h"

#include <algorithm>

#include "coreml/operators/families.h"
#include "model/message.h"

namespace mslite {
namespace {
// Field numbers of the messages other than layers, with the names that coremltools uses.
enum Field : int32_t {
  kVersion = 1,  // Model
  kDescription = 2,
  kNeuralNetwork = 500,
  kInput = 1,  // ModelDescription
  kOutput = 10,
  kName = 1,  // FeatureDescription, NeuralNetworkLayer
  kType = 3,
  kMultiArray = 5,  // FeatureType
  kShape = 1,       // ArrayFeatureType
  kElements = 2,
  kLayerInput = 2,  // NeuralNetworkLayer
  kLayerOutput = 3,
  kLayers = 1,  // NeuralNetwork
  kShapeMapping = 5,
};
constexpr int64_t kFloat32 = 65568;
constexpr int64_t kExactShapes = 1;
constexpr int64_t kVersion4 = 4;  // iOS 13, macOS 10.15
constexpr int32_t kMaxDimensions = 5;

const CoreMlOperator *Find(int32_t op) {
  for (const CoreMlFamily family : kCoreMlFamilies) {
    for (const CoreMlOperator *entry = family(); entry->plan != nullptr; ++entry) {
      if (entry->op == op) return entry;
    }
  }
  return nullptr;
}

std::string WriteNode(const mslite_node &node, CoreMlDraft *draft) {
  const CoreMlOperator *entry = Find(node.op);
  if (entry == nullptr) return "the backend does not support the operator";
  if (node.quant_type != 0) return "the operator is quantized";
  if (node.inputs[0]->type != MSLITE_FLOAT32) return "an input is not float32";
  for (const auto &[tensors, count] : {std::pair(node.inputs, node.input_count), {node.outputs, node.output_count}}) {
    for (int32_t i = 0; i < count; ++i) {
      const mslite_tensor &tensor = *tensors[i];
      if (tensor.quant_count > 0) return "a tensor is quantized";
      if (CountIn(tensor) <= 0) return "a tensor is empty";
      if (tensor.rank > kMaxDimensions) return "the rank is above 5";
      if (tensors == node.outputs && tensor.type != MSLITE_FLOAT32) return "an output is not float32";
    }
  }
  CoreMlPlan plan(node, draft);
  return entry->plan(&plan);
}

ProtoMessage Feature(const std::string &name, const mslite_tensor &tensor) {
  ProtoMessage array;
  array.Wholes(kShape, CoreMlDims(tensor)).Whole(kElements, kFloat32);
  return ProtoMessage().Text(kName, name).Part(kType, ProtoMessage().Part(kMultiArray, array));
}
}  // namespace

std::vector<int64_t> CoreMlDims(const mslite_tensor &tensor) {
  if (tensor.rank <= 0) return {1};
  return {tensor.dims, tensor.dims + tensor.rank};
}

ProtoMessage CoreMlWeights(const float *numbers, size_t count) { return ProtoMessage().Reals(1, numbers, count); }

std::string CoreMlPlan::Input(int32_t index) {
  const mslite_tensor &tensor = *node_.inputs[index];
  if (const auto known = draft_->values.find(&tensor); known != draft_->values.end()) return known->second;
  std::string value;
  if (const auto image = draft_->images.find(&tensor); image != draft_->images.end()) {
    value = Transposed(image->second, {0, 2, 3, 1});
  } else if (tensor.data != nullptr) {
    value = Constant(CoreMlDims(tensor), static_cast<const float *>(tensor.data), static_cast<size_t>(CountIn(tensor)));
  } else {
    value = "entered_" + std::to_string(draft_->entered.size());
    draft_->entered.push_back(&tensor);
  }
  return draft_->values[&tensor] = value;
}

void CoreMlPlan::Give(const std::string &value, int32_t output) { draft_->values[node_.outputs[output]] = value; }

std::string CoreMlPlan::Image(int32_t index) {
  const mslite_tensor &tensor = *node_.inputs[index];
  if (const auto known = draft_->images.find(&tensor); known != draft_->images.end()) return known->second;
  return draft_->images[&tensor] = Transposed(Input(index), {0, 3, 1, 2});
}

void CoreMlPlan::GiveImage(const std::string &value, int32_t output) { draft_->images[node_.outputs[output]] = value; }

std::vector<std::string> CoreMlPlan::Alike(int32_t count) {
  is_image_ = false;
  for (int32_t i = 0; i < count; ++i) is_image_ = is_image_ || draft_->images.count(node_.inputs[i]) != 0;
  for (int32_t i = 0; i < count; ++i) is_image_ = is_image_ && node_.inputs[i]->rank == 4;
  std::vector<std::string> values;
  values.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) values.push_back(is_image_ ? Image(i) : Input(i));
  return values;
}

void CoreMlPlan::GiveAlike(const std::string &value) {
  if (is_image_) {
    GiveImage(value);
  } else {
    Give(value);
  }
}

std::vector<std::string> CoreMlPlan::Layers(CoreMlLayer type, const std::vector<std::string> &inputs,
                                            const ProtoMessage &message, int32_t outputs) {
  ProtoMessage layer;
  layer.Text(kName, "layer_" + std::to_string(draft_->layers.size()));
  for (const std::string &input : inputs) layer.Text(kLayerInput, input);
  std::vector<std::string> values;
  for (int32_t i = 0; i < outputs; ++i) {
    values.push_back("value_" + std::to_string(draft_->count++));
    layer.Text(kLayerOutput, values.back());
  }
  draft_->layers.push_back(layer.Part(type, message));
  return values;
}

std::string CoreMlPlan::Layer(CoreMlLayer type, const std::vector<std::string> &inputs, const ProtoMessage &message) {
  return Layers(type, inputs, message, 1)[0];
}

std::string CoreMlPlan::Constant(const Dims &dims, const float *numbers, size_t count) {
  return Layer(COREML_LOAD_CONSTANT_ND, {}, ProtoMessage().Wholes(1, dims).Part(2, CoreMlWeights(numbers, count)));
}

std::string CoreMlPlan::Transposed(const std::string &x, const Dims &axes) {
  return Layer(COREML_TRANSPOSE, {x}, ProtoMessage().Wholes(1, axes));
}

std::string CoreMlPlan::Reshaped(const std::string &x, const Dims &dims) {
  return Layer(COREML_RESHAPE_STATIC, {x}, ProtoMessage().Wholes(1, dims));
}

bool IsCoreMlActivation(int32_t activation) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_LINEAR:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
    case MSLITE_ACTIVATION_TYPE_TANH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_SWISH:
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
    case MSLITE_ACTIVATION_TYPE_GELU:
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
      return true;
    default:
      return false;
  }
}

std::string CoreMlPlan::Activated(const std::string &x, int32_t activation) {
  enum Function : int32_t { kRelu = 10, kTanh = 30, kSigmoid = 40, kHardSigmoid = 41, kSoftsign = 60, kSoftplus = 70 };
  const auto function = [&](Function field, const ProtoMessage &message) {
    return Layer(COREML_ACTIVATION, {x}, ProtoMessage().Part(field, message));
  };
  const auto clipped = [&](float low, float high) {
    return Layer(COREML_CLIP, {x}, ProtoMessage().Real(1, low).Real(2, high));
  };
  const ProtoMessage hard = ProtoMessage().Real(1, 1.0f / 6).Real(2, 0.5f);
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return function(kRelu, {});
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return clipped(-1, 1);
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return clipped(0, 6);
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return function(kSigmoid, {});
    case MSLITE_ACTIVATION_TYPE_TANH:
      return function(kTanh, {});
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      return function(kHardSigmoid, hard);
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return Layer(COREML_MULTIPLY, {x, function(kHardSigmoid, hard)});
    case MSLITE_ACTIVATION_TYPE_SWISH:
      return Layer(COREML_MULTIPLY, {x, function(kSigmoid, {})});
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      return function(kSoftplus, {});
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
      return function(kSoftsign, {});
    case MSLITE_ACTIVATION_TYPE_GELU:
      return Layer(COREML_GELU, {x}, ProtoMessage().Whole(1, 0));
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
      return Layer(COREML_GELU, {x}, ProtoMessage().Whole(1, 1));
    default:  // no activation, or a linear one
      return x;
  }
}

std::string WhyNotCoreMl(const mslite_node &node) {
  CoreMlDraft draft;
  return WriteNode(node, &draft);
}

Status WriteCoreMlPart(const Part &part, CoreMlModelText *model) {
  CoreMlDraft draft;
  const auto tensor = [&](int32_t index) -> const mslite_tensor & {
    return part.tensors[static_cast<size_t>(index)].value;
  };
  ProtoMessage description;
  for (const Part::Node &node : part.nodes) {
    const Part::Call call(part, node);
    const std::string reason = WriteNode(call.node(), &draft);
    if (!reason.empty()) return Fail(mindspore::kLiteNotSupport, "node '" + node.name + "': " + reason);
  }
  // A copy layer renames each input to the name that it got at its first use.
  ProtoMessage network;
  const auto rename = [&](const std::string &from, const std::string &to) {
    network.Part(kLayers, ProtoMessage()
                              .Text(kName, "to_" + to)
                              .Text(kLayerInput, from)
                              .Text(kLayerOutput, to)
                              .Part(COREML_COPY, ProtoMessage()));
  };
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const auto place = std::find(draft.entered.begin(), draft.entered.end(), &tensor(part.inputs[i]));
    if (place == draft.entered.end()) continue;
    const std::string name = "input_" + std::to_string(i);
    description.Part(kInput, Feature(name, **place));
    rename(name, "entered_" + std::to_string(place - draft.entered.begin()));
    model->inputs.push_back(i);
  }
  if (model->inputs.size() != draft.entered.size()) {
    return Fail(mindspore::kLiteError, "a node of the partition reads a tensor that is not an input of the partition");
  }
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    const mslite_tensor &output = tensor(part.outputs[i]);
    // Reads the value through a node that has the output as its input, so that its layout is converted.
    const mslite_tensor *operands[] = {&output};
    const mslite_node reader = {0, nullptr, 1, 0, operands, nullptr, 0};
    const std::string value = CoreMlPlan(reader, &draft).Input(0);
    description.Part(kOutput, Feature("output_" + std::to_string(i), output));
    draft.layers.push_back(ProtoMessage()
                               .Text(kName, "to_output_" + std::to_string(i))
                               .Text(kLayerInput, value)
                               .Text(kLayerOutput, "output_" + std::to_string(i))
                               .Part(COREML_COPY, ProtoMessage()));
  }
  for (const ProtoMessage &layer : draft.layers) network.Part(kLayers, layer);
  network.Whole(kShapeMapping, kExactShapes);
  ProtoMessage whole;
  whole.Whole(kVersion, kVersion4).Part(kDescription, description).Part(kNeuralNetwork, network);
  model->bytes = whole.bytes();
  return mindspore::kSuccess;
}
}  // namespace mslite
