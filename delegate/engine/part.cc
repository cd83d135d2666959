#include "engine/part.h"

#include <algorithm>

#include "model/message.h"
#include "plan/shapes.h"

namespace mslite {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;

namespace {
// Copies the current type, shape and constant data of a tensor.
void ReadTensor(const MSTensor &source, Part::Tensor *tensor) {
  tensor->name = source.Name();
  tensor->source = source;
  tensor->value = UnknownTensor();
  mslite_tensor &value = tensor->value;
  value.type = static_cast<int32_t>(source.DataType());
  const std::vector<int64_t> &dims = source.Shape();
  const bool has_rank = dims.size() <= MSLITE_MAX_RANK && !(dims.size() == 1 && dims[0] == -1);
  value.rank = has_rank ? static_cast<int32_t>(dims.size()) : -1;
  for (int32_t i = 0; i < value.rank; ++i) value.dims[i] = dims[static_cast<size_t>(i)];
  if (source.IsConst()) {
    value.data = source.Data().get();
    FillKnown(&value);
  }
  tensor->quant.clear();
  for (const mindspore::QuantParam &record : source.QuantParams()) {
    tensor->quant.push_back({record.scale, record.zero_point, 0, RoundsHalfToEven(source) ? 1 : 0});
  }
  value.quant_count = static_cast<int32_t>(tensor->quant.size());
}
}  // namespace

bool HasShape(const mslite_tensor &tensor) {
  return tensor.rank >= 0 && std::all_of(tensor.dims, tensor.dims + tensor.rank, [](int64_t dim) { return dim >= 0; });
}

int64_t CountIn(const mslite_tensor &tensor) { return mslite_element_count(&tensor); }

int64_t BytesOf(const mslite_tensor &tensor) { return mslite_element_count(&tensor) * mslite_type_size(tensor.type); }

Part::Call::Call(const Part &part, const Node &node) {
  for (const int32_t input : node.inputs) inputs_.push_back(&part.tensors[static_cast<size_t>(input)].value);
  for (const int32_t output : node.outputs) outputs_.push_back(&part.tensors[static_cast<size_t>(output)].value);
  node_.op = node.op;
  node_.params = node.params;
  node_.input_count = static_cast<int32_t>(inputs_.size());
  node_.output_count = static_cast<int32_t>(outputs_.size());
  node_.inputs = inputs_.data();
  node_.outputs = outputs_.data();
  node_.quant_type = node.quant_type;
}

int32_t Part::IndexOf(const MSTensor &tensor) {
  const auto [place, is_new] = indices_.emplace(tensor.impl().get(), static_cast<int32_t>(tensors.size()));
  if (is_new) ReadTensor(tensor, &tensors.emplace_back());
  return place->second;
}

Status Part::Read(const std::vector<Kernel *> &kernels, const Border &border) {
  for (Kernel *kernel : kernels) {
    Node node;
    node.name = kernel->name();
    node.quant_type = static_cast<int32_t>(kernel->quant_type());
    node.kernel = kernel;
    if (kernel->primitive() != nullptr) {
      node.params = unpack::UnpackPrimitive(*kernel->primitive(), arena_, &node.op);
      if (const char *attribute = arena_.TakeRefused(); attribute != nullptr) {
        return Fail(mindspore::kLiteParamInvalid,
                    "node '" + node.name + "': attribute '" + attribute + "' has a value outside 32 bits");
      }
    }
    for (const MSTensor &input : kernel->inputs()) node.inputs.push_back(IndexOf(input));
    for (const MSTensor &output : kernel->outputs()) node.outputs.push_back(IndexOf(output));
    nodes.push_back(std::move(node));
  }
  for (const MSTensor &input : border.inputs) inputs.push_back(IndexOf(input));
  for (const MSTensor &output : border.outputs) outputs.push_back(IndexOf(output));
  for (Tensor &tensor : tensors) tensor.value.quant = tensor.quant.data();
  return mindspore::kSuccess;
}

void Part::CopyKnownInputs(const Part &whole) {
  learned_.clear();
  for (const int32_t input : inputs) {
    const auto place = whole.indices_.find(tensors[static_cast<size_t>(input)].source.impl().get());
    if (place == whole.indices_.end()) {
      learned_.push_back(UnknownTensor());
      continue;
    }
    mslite_tensor value = whole.tensors[static_cast<size_t>(place->second)].value;
    if (std::any_of(value.known, value.known + std::max(value.known_count, 0), mslite_is_symbol))
      value.known_count = -1;
    learned_.push_back(value);
  }
}

void Part::ShowInputs(const std::vector<MSTensor> &shown) {
  for (size_t i = 0; i < inputs.size() && i < shown.size(); ++i) {
    tensors[static_cast<size_t>(inputs[i])].source = shown[i];
  }
}

void Part::Infer() {
  int64_t next_symbol = MSLITE_SYMBOL_LIMIT - 1;
  for (const int32_t input : inputs) {
    Tensor &tensor = tensors[static_cast<size_t>(input)];
    ReadTensor(tensor.source, &tensor);
    tensor.value.quant = tensor.quant.data();
    for (int32_t i = 0; i < tensor.value.rank; ++i) {
      if (tensor.value.dims[i] < 0) tensor.value.dims[i] = next_symbol--;
    }
  }
  const auto is_learned = [&](size_t i) {
    const mslite_tensor &value = tensors[static_cast<size_t>(inputs[i])].value;
    return value.rank == learned_[i].rank &&
           std::equal(value.dims, value.dims + std::max(value.rank, 0), learned_[i].dims);
  };
  bool is_same = learned_.size() == inputs.size();
  for (size_t i = 0; is_same && i < inputs.size(); ++i) is_same = is_learned(i);
  for (size_t i = 0; is_same && i < inputs.size(); ++i) {
    mslite_tensor &value = tensors[static_cast<size_t>(inputs[i])].value;
    value.known_count = learned_[i].known_count;
    std::copy_n(learned_[i].known, MSLITE_MAX_KNOWN, value.known);
  }
  for (const Node &node : nodes) {
    const Call call(*this, node);
    std::vector<mslite_tensor> results(node.outputs.size(), UnknownTensor());
    if (node.params != nullptr && HasShapeRule(node.op)) {
      const std::vector<const mslite_tensor *> operands(call.node().inputs,
                                                        call.node().inputs + call.node().input_count);
      const bool is_known = std::all_of(operands.begin(), operands.end(),
                                        [](const mslite_tensor *operand) { return operand->rank >= 0; });
      if (!is_known || !InferShapes(node.op, node.params, operands, &results, &next_symbol).ok()) {
        results.assign(node.outputs.size(), UnknownTensor());
      }
    } else {  // of a registered kernel: the shapes of the file
      for (size_t i = 0; i < results.size(); ++i) {
        Tensor declared;
        ReadTensor(tensors[static_cast<size_t>(node.outputs[i])].source, &declared);
        if (HasShape(declared.value)) results[i] = declared.value;
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      Tensor &tensor = tensors[static_cast<size_t>(node.outputs[i])];
      if (results[i].rank < 0) results[i].type = static_cast<int32_t>(tensor.source.DataType());
      results[i].quant_count = static_cast<int32_t>(tensor.quant.size());
      results[i].quant = tensor.quant.data();
      tensor.value = results[i];
    }
  }
}
}  // namespace mslite
