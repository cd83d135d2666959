#include "training/micro_weights.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "codegen/replaceable_weights.h"
#include "model/bytes.h"
#include "model/half.h"
#include "model/load.h"

namespace mslite {
namespace {
template <typename Number>
void Append(Number number, std::vector<uint8_t> *bytes) {
  const auto *from = reinterpret_cast<const uint8_t *>(&number);
  bytes->insert(bytes->end(), from, from + sizeof number);
}

Status AppendHalves(const Tensor &weight, std::vector<uint8_t> *bytes) {
  for (size_t at = 0; at + sizeof(float) <= weight.size; at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, weight.data + at, sizeof number);
    const uint16_t half = FloatToHalf(number);
    if (std::isfinite(number) && !std::isfinite(HalfToFloat(half))) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("weight '%.300s' holds %g, which is beyond float16; export float32 (enable_fp16=false)",
                         weight.name.c_str(), static_cast<double>(number)));
    }
    Append(half, bytes);
  }
  return mindspore::kSuccess;
}
}  // namespace

Status WriteMicroWeights(const std::vector<uint8_t> &model, const MicroWeightSettings &settings,
                         std::vector<uint8_t> *weights) {
  std::shared_ptr<const Bytes> bytes;
  MSLITE_TRY(Bytes::Copy(model.data(), model.size(), &bytes));
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Load(bytes, &graph));
  codegen::ReplaceableWeights found;
  MSLITE_TRY(codegen::FindReplaceableWeights(*graph, settings.changeable, &found));
  for (const auto &[name, weight] : found) {
    if (settings.half) {
      MSLITE_TRY(AppendHalves(*weight, weights));
    } else {
      weights->insert(weights->end(), weight->data, weight->data + weight->size);
    }
  }
  Append(codegen::SignatureOf(found), weights);
  return mindspore::kSuccess;
}
}  // namespace mslite
