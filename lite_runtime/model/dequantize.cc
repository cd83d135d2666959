#include "model/dequantize.h"

#include <algorithm>
#include <cmath>

#include "model/loader.h"

namespace mslite {
namespace {
struct Limits {
  int64_t low;
  int64_t high;
};

Limits LimitsOf(int32_t type) {
  switch (type) {
    case MSLITE_INT8:
      return {INT8_MIN, INT8_MAX};
    case MSLITE_UINT8:
      return {0, UINT8_MAX};
    case MSLITE_INT16:
      return {INT16_MIN, INT16_MAX};
    case MSLITE_UINT16:
      return {0, UINT16_MAX};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

// Returns the dimension of the channels for per-channel quantization parameters of input `input`.
int32_t ChannelAxis(const Graph &graph, const Node &node, size_t input, int32_t rank) {
  const bool is_old = graph.version < Version{1, 6, 0};
  if (node.op == MSLITE_OP_MatMulFusion && input < 2) {
    const auto *params = static_cast<const mslite_MatMulFusion *>(node.params);
    const bool transposed = input == 0 ? params->transpose_a : params->transpose_b;
    const int32_t rows = is_old ? 0 : rank - 2;
    const int32_t columns = is_old ? 1 : rank - 1;
    return (input == 0) == transposed ? columns : rows;
  }
  if (node.op == MSLITE_OP_Conv2dTransposeFusion && input == 1 && !(graph.version < Version{1, 8, 0})) {
    const auto *params = static_cast<const mslite_Conv2dTransposeFusion *>(node.params);
    const bool is_depthwise = params->group == params->in_channel && params->group == params->out_channel;
    return is_depthwise ? 0 : rank - 1;
  }
  if (node.op == MSLITE_OP_LSTMSequence) return 1;
  if (node.op == MSLITE_OP_Gather && input == 0 && !is_old && node.inputs.size() > 2) {
    const Tensor &axis = graph.tensors[static_cast<size_t>(node.inputs[2])];
    if (axis.is_constant && axis.type == MSLITE_INT32 && axis.size >= 4) {
      return mslite_normalize_axis(*reinterpret_cast<const int32_t *>(axis.data), rank);
    }
  }
  return 0;
}

template <typename T>
void Scale(const uint8_t *source, int64_t count, const mslite_quant &record, const Correction &correction,
           float *target) {
  const auto *values = reinterpret_cast<const T *>(source);
  for (int64_t i = 0; i < count; ++i) {
    const double real = record.scale * (static_cast<double>(values[i]) - static_cast<double>(record.zero_point));
    target[i] =
        static_cast<float>(real * static_cast<double>(correction.variance) + static_cast<double>(correction.mean));
  }
}

void ScaleRun(const Tensor &source, int64_t begin, int64_t count, const mslite_quant &record,
              const Correction &correction, float *values) {
  const uint8_t *data = source.data + begin * mslite_type_size(source.type);
  switch (source.type) {
    case MSLITE_INT8:
      return Scale<int8_t>(data, count, record, correction, values + begin);
    case MSLITE_UINT8:
      return Scale<uint8_t>(data, count, record, correction, values + begin);
    case MSLITE_INT16:
      return Scale<int16_t>(data, count, record, correction, values + begin);
    case MSLITE_UINT16:
      return Scale<uint16_t>(data, count, record, correction, values + begin);
    case MSLITE_INT64:
      return Scale<int64_t>(data, count, record, correction, values + begin);
    default:
      return Scale<int32_t>(data, count, record, correction, values + begin);
  }
}
}  // namespace

std::string QuantParamsProblem(const Tensor &tensor) {
  const Limits limits = LimitsOf(tensor.type);
  for (size_t i = 0; i < tensor.quant.size(); ++i) {
    const mslite_quant &record = tensor.quant[i];
    const auto scale = static_cast<float>(record.scale);  // the precision in which kernels compute
    const bool has_scale = std::isfinite(scale) && (scale > 0 || (record.scale >= 0 && tensor.is_constant));
    const bool has_zero = record.zero_point >= limits.low && record.zero_point <= limits.high;
    if (has_scale && has_zero) continue;
    return Format("quantization parameters %zu of '%.200s' are invalid: scale %g, zero point %d for ", i,
                  tensor.name.c_str(), record.scale, static_cast<int>(record.zero_point)) +
           TypeName(tensor.type);
  }
  return "";
}

bool HasCorrections(const Tensor &tensor) {
  return tensor.is_constant && tensor.corrections.size() > 1 &&
         std::any_of(tensor.corrections.begin(), tensor.corrections.end(), [](const Correction &correction) {
           return correction.variance != 1.0F || correction.mean != 0.0F;
         });
}

Status AllocateConstant(Graph *graph, const std::string &name, int64_t count, int64_t element, uint8_t **data) {
  AlignedBuffer buffer = count > INT64_MAX / element ? nullptr : MakeAligned(static_cast<uint64_t>(count * element));
  if (buffer == nullptr) return Fail(mindspore::kLiteMemoryFailed, "no memory for the decoded constant '" + name + "'");
  *data = buffer.get();
  graph->decoded.push_back(std::move(buffer));
  return mindspore::kSuccess;
}

Status Dequantizer::Error(const Node &node, const std::string &reason) const {
  return Fail(mindspore::kLiteGraphFileError, "file '" + graph_->file->name() + "': " + Describe(node) + ": " + reason);
}

Status Dequantizer::Constant(const Node &node, size_t input, int32_t *tensor) {
  const Tensor &source = graph_->tensors[static_cast<size_t>(node.inputs[input])];
  const auto rank = static_cast<int32_t>(source.dims.size());
  return AlongAxis(node, input, source.quant.size() > 1 ? ChannelAxis(*graph_, node, input, rank) : 0, tensor);
}

Status Dequantizer::AlongAxis(const Node &node, size_t input, int32_t axis, int32_t *tensor) {
  const int32_t index = node.inputs[input];
  const Tensor &source = graph_->tensors[static_cast<size_t>(index)];
  if (std::string problem = QuantParamsProblem(source); !problem.empty()) return Error(node, problem);
  return Make(node, {index, axis, -1, -1}, source.quant, source.corrections, tensor);
}

Status Dequantizer::Bias(const Node &node, int32_t *tensor) {
  const Tensor &x = graph_->tensors[static_cast<size_t>(node.inputs[0])];
  const Tensor &weight = graph_->tensors[static_cast<size_t>(node.inputs[1])];
  for (const Tensor *factor : {&x, &weight}) {
    if (std::string problem = QuantParamsProblem(*factor); !problem.empty()) return Error(node, problem);
  }
  if (x.quant.size() != 1 || weight.quant.empty()) {
    return Error(node, "its integer bias has no scale, and its input and weight have none either");
  }
  std::vector<mslite_quant> records = weight.quant;
  for (mslite_quant &record : records) {
    record.scale *= x.quant[0].scale;
    record.zero_point = 0;
  }
  return Make(node, {node.inputs[2], 0, node.inputs[0], node.inputs[1]}, records, {}, tensor);
}

Status Dequantizer::Make(const Node &node, const Key &key, const std::vector<mslite_quant> &records,
                         const std::vector<Correction> &corrections, int32_t *tensor) {
  const auto place = made_.find(key);
  if (place != made_.end()) {
    *tensor = place->second;
    return mindspore::kSuccess;
  }
  Tensor made = graph_->tensors[static_cast<size_t>(std::get<0>(key))];
  const auto axis = static_cast<size_t>(std::get<1>(key));
  int64_t count = 0;
  if (!CountElements(made.dims, &count)) return Error(node, "constant '" + made.name + "' has an unknown size");
  int64_t channels = 1;
  int64_t inner = count;
  if (records.size() > 1) {
    channels = static_cast<int64_t>(records.size());
    inner = 1;
    for (size_t i = axis + 1; i < made.dims.size(); ++i) inner *= made.dims[i];
    const int64_t size = std::get<1>(key) < 0 || axis >= made.dims.size() ? 0 : made.dims[axis];
    // In the first dimension a channel may have several quantization parameters, each for an equal part of its
    // elements.
    const int64_t groups = size > 0 ? channels / size : 0;
    if (groups == 0 || groups * size != channels || (groups > 1 && (axis != 0 || inner % groups != 0))) {
      return Error(node, Format("%zu quantization parameters do not match the shape of its constant '%.200s' ",
                                records.size(), made.name.c_str()) +
                             DimsText(made.dims.data(), made.dims.size()));
    }
    inner /= groups;
  }
  uint8_t *data = nullptr;
  MSLITE_TRY(AllocateConstant(graph_, made.name, count, 4, &data));
  for (int64_t begin = 0, channel = 0; begin < count; begin += inner, channel = (channel + 1) % channels) {
    const auto at = static_cast<size_t>(channel);
    // A correction in the file is ignored if there is only one pair of quantization parameters.
    ScaleRun(made, begin, inner, records[at], corrections.size() > 1 ? corrections[at] : Correction(),
             reinterpret_cast<float *>(data));
  }
  made.data = data;
  made.size = static_cast<size_t>(count) * 4;
  made.type = MSLITE_FLOAT32;
  made.quant.clear();
  made.corrections.clear();
  *tensor = static_cast<int32_t>(graph_->tensors.size());
  made_.emplace(key, *tensor);
  graph_->tensors.push_back(std::move(made));
  return mindspore::kSuccess;
}
}  // namespace mslite
