#include "training/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "model/message.h"
#include "plan/frame.h"
#include "schema/ops_objects.h"

namespace mslite {
namespace {
constexpr float kMost = 127.0f;
constexpr size_t kRecordBytes = 48;

// Returns the index of the weight among the inputs of the node; 0 if there is none.
size_t WeightInput(const schema::CNodeT &node) {
  switch (node.primitive == nullptr ? schema::PrimitiveType_NONE : node.primitive->value.type) {
    case schema::PrimitiveType_Conv2DFusion:
    case schema::PrimitiveType_Conv2dTransposeFusion:
    case schema::PrimitiveType_FullConnection:
    case schema::PrimitiveType_MatMulFusion:
      return 1;
    default:
      return 0;
  }
}

// Returns whether the first dimension of the weight is the output channels.
bool HasChannelsFirst(const schema::CNodeT &node, size_t rank) {
  switch (node.primitive->value.type) {
    case schema::PrimitiveType_Conv2DFusion:
    case schema::PrimitiveType_FullConnection:
      return true;
    case schema::PrimitiveType_MatMulFusion:
      return rank == 2 && node.primitive->value.AsMatMulFusion()->transpose_b;
    default:
      return false;
  }
}

Status Quantize(size_t channels, schema::TensorT *weight) {
  const size_t count = weight->data.size() / sizeof(float);
  const size_t run = count / channels;
  std::vector<float> values(count);
  std::memcpy(values.data(), weight->data.data(), count * sizeof(float));
  std::vector<uint8_t> codes(count);
  for (size_t channel = 0; channel < channels; ++channel) {
    const float *from = values.data() + channel * run;
    float largest = 0.0f;
    for (size_t i = 0; i < run; ++i) {
      if (!std::isfinite(from[i])) {
        return Fail(mindspore::kLiteParamInvalid,
                    "weight '" + weight->name + "' is not finite and cannot be quantized; use an earlier checkpoint");
      }
      largest = std::max(largest, std::fabs(from[i]));
    }
    const float scale = largest > 0.0f ? largest / kMost : 1.0f;
    for (size_t i = 0; i < run; ++i) {
      const float code = std::min(std::max(std::nearbyint(from[i] / scale), -kMost), kMost);
      codes[channel * run + i] = static_cast<uint8_t>(static_cast<int8_t>(code));
    }
    auto record = std::make_unique<schema::QuantParamT>();
    record->scale = static_cast<double>(scale);
    record->inited = true;
    weight->quantParams.push_back(std::move(record));
  }
  weight->data = std::move(codes);
  weight->dataType = MSLITE_INT8;
  return mindspore::kSuccess;
}
}  // namespace

Status QuantizeWeights(bool per_channel, schema::MetaGraphT *model) {
  std::vector<size_t> readers(model->allTensors.size());
  for (const auto &node : model->nodes) {
    for (const uint32_t input : node->inputIndex) ++readers[input];
  }
  std::vector<bool> is_quantized(model->allTensors.size());
  for (const auto &node : model->nodes) {
    const size_t place = WeightInput(*node);
    if (place == 0 || node->inputIndex.size() <= place) continue;
    const uint32_t index = node->inputIndex[place];
    schema::TensorT &weight = *model->allTensors[index];
    const size_t count = weight.data.size() / sizeof(float);
    if (is_quantized[index] || weight.dataType != MSLITE_FLOAT32 || count == 0) continue;
    const auto rows = static_cast<size_t>(weight.dims.empty() ? 0 : weight.dims[0]);
    const bool by_channel = per_channel && readers[index] == 1 && rows > 0 &&
                            HasChannelsFirst(*node, weight.dims.size()) && count % rows == 0;
    const size_t channels = by_channel ? rows : 1;
    if (3 * count <= channels * kRecordBytes) continue;
    MSLITE_TRY(Quantize(channels, &weight));
    is_quantized[index] = true;
  }
  for (const auto &node : model->nodes) {
    const auto reads = [&](uint32_t input) { return is_quantized[input]; };
    if (std::any_of(node->inputIndex.begin(), node->inputIndex.end(), reads)) {
      node->quantType = schema::QuantType_QUANT_WEIGHT;
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
