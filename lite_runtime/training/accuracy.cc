#include "include/api/metrics/accuracy.h"

#include <algorithm>
#include <string>

#include "api/log.h"
#include "model/graph.h"
#include "model/names.h"

namespace mindspore {
namespace {
int64_t Largest(const float *row, int64_t classes) { return std::max_element(row, row + classes) - row; }

std::string Described(const char *what, const std::vector<int> &places, const MSTensor *tensor) {
  std::string text = std::string(what) + " " + (places.empty() ? "-" : std::to_string(places[0])) + ": ";
  if (tensor == nullptr) return text + "missing";
  const std::vector<int64_t> shape = tensor->Shape();
  return text + "'" + tensor->Name() + "' " + mslite::TypeName(static_cast<int32_t>(tensor->DataType())) +
         mslite::DimsText(shape.data(), shape.size());
}

// Returns the tensor at the first place of the list, or null.
const MSTensor *At(const std::vector<MSTensor *> &tensors, const std::vector<int> &places) {
  const size_t place = places.empty() || places[0] < 0 ? tensors.size() : static_cast<size_t>(places[0]);
  return place < tensors.size() ? tensors[place] : nullptr;
}
}  // namespace

AccuracyMetrics::AccuracyMetrics(int accuracy_metrics, const std::vector<int> &input_indexes,
                                 const std::vector<int> &output_indexes)
    : kind_(accuracy_metrics), input_indexes_(input_indexes), output_indexes_(output_indexes) {}

void AccuracyMetrics::Clear() { right_ = total_ = 0; }

void AccuracyMetrics::Update(std::vector<MSTensor *> inputs, std::vector<MSTensor *> outputs) {
  const MSTensor *labels = At(inputs, input_indexes_);
  const MSTensor *predictions = At(outputs, output_indexes_);
  const bool are_there =
      labels != nullptr && predictions != nullptr && labels->Data() != nullptr && predictions->Data() != nullptr;
  const std::vector<int64_t> shape = are_there ? predictions->Shape() : std::vector<int64_t>();
  const int64_t batch = shape.empty() ? 0 : shape[0];
  const int64_t classes = batch == 0 ? 0 : predictions->ElementNum() / batch;
  const bool is_sparse = are_there && labels->DataType() == DataType::kNumberTypeInt32 &&
                         labels->ElementNum() == batch && kind_ == METRICS_CLASSIFICATION;
  const bool is_dense = are_there && labels->DataType() == DataType::kNumberTypeFloat32 &&
                        labels->ElementNum() == predictions->ElementNum();
  total_ += std::max<int64_t>(batch, 1);
  if (classes == 0 || predictions->DataType() != DataType::kNumberTypeFloat32 || (!is_sparse && !is_dense)) {
    if (!has_failed_) {
      mslite::Log(mslite::LogLevel::kError,
                  "accuracy: the labels (" + Described("input", input_indexes_, labels) +
                      ") do not match the predictions (" + Described("output", output_indexes_, predictions) +
                      "), and such batches count as wrong. Predictions are float32 [batch, classes], labels float32 of "
                      "the same shape, or int32 [batch] (METRICS_CLASSIFICATION)");
    }
    has_failed_ = true;
    return;
  }
  const auto *rows = static_cast<const float *>(predictions->Data().get());
  const auto *wanted = static_cast<const float *>(labels->Data().get());
  for (int64_t row = 0; row < batch; ++row, rows += classes) {
    if (is_sparse) {
      right_ += static_cast<const int32_t *>(labels->Data().get())[row] == Largest(rows, classes) ? 1 : 0;
      continue;
    }
    const float *label = wanted + row * classes;
    const bool is_right =
        kind_ == METRICS_CLASSIFICATION
            ? Largest(label, classes) == Largest(rows, classes)
            : std::equal(label, label + classes, rows, [](float a, float b) { return (a > 0.5f) == (b > 0.5f); });
    right_ += is_right ? 1 : 0;
  }
}

float AccuracyMetrics::Eval() {
  return total_ == 0 ? 0.0f : static_cast<float>(static_cast<double>(right_) / static_cast<double>(total_));
}
}  // namespace mindspore
