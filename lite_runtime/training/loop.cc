// Train and Evaluate: epochs and batches.
#include "api/model_access.h"
#include "api/model_impl.h"
#include "include/api/callback/callback.h"
#include "include/api/metrics/metrics.h"
#include "include/dataset/datasets.h"
#include "training/pointers.h"
#include "training/trainer_impl.h"

namespace mindspore {
TrainCallBack::~TrainCallBack() = default;
Metrics::~Metrics() = default;
}  // namespace mindspore

namespace mslite {
namespace {
using mindspore::Model;
using mindspore::ModelAccess;  // GetInputs and GetOutputs return nothing if memory is out
using mindspore::MSTensor;
using mindspore::dataset::Dataset;

// Fills the inputs of the model from a dataset.
class Batches {
 public:
  Batches(Model *model, const Dataset *dataset) : dataset_(*dataset), inputs_(ModelAccess::Of(*model)->inputs()) {}

  // Errors: kLiteParamInvalid for a dataset that does not match the model.
  Status Check() {
    const std::vector<Dataset::Column> &columns = dataset_.GetColumns();
    if (dataset_.GetDatasetSize() > 0 && columns.size() < inputs_.size()) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("the dataset has %zu columns, but the model has %zu inputs", columns.size(), inputs_.size()));
    }
    if (columns.empty()) return dataset_.Read(0, 0, nullptr);  // returns the error
    if (dataset_.GetBatchSize() < 0) {
      return Fail(
          mindspore::kLiteParamInvalid,
          Format("the dataset has batches of %d rows; use 0 for the batch size of the model", dataset_.GetBatchSize()));
    }
    for (size_t i = 0; i < inputs_.size(); ++i) MSLITE_TRY(CheckInput(i, columns[i]));
    row_bytes_.clear();
    for (const MSTensor &input : inputs_) row_bytes_.push_back(input.DataSize() / static_cast<size_t>(rows_));
    if (dataset_.GetDatasetSize() >= rows_) return mindspore::kSuccess;
    return Fail(mindspore::kLiteParamInvalid,
                Format("the dataset has %lld rows, but a batch needs %lld",
                       static_cast<long long>(dataset_.GetDatasetSize()), static_cast<long long>(rows_)));
  }

  int64_t count() const { return dataset_.GetDatasetSize() / rows_; }

  Status Fill(const std::vector<int64_t> &order, int64_t batch) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto *data = static_cast<uint8_t *>(inputs_[i].MutableData());
      if (data == nullptr) return Fail(mindspore::kLiteMemoryFailed, "no memory for input '" + inputs_[i].Name() + "'");
      if (inputs_[i].DataSize() != row_bytes_[i] * static_cast<size_t>(rows_)) {
        return Fail(mindspore::kLiteParamInvalid,
                    "input '" + inputs_[i].Name() +
                        "' was resized between the batches of a dataset; resize the model "
                        "before Train or Evaluate");
      }
      for (int64_t row = 0; row < rows_; ++row) {
        const auto at = static_cast<size_t>(batch * rows_ + row);
        if (at >= order.size())
          return Fail(mindspore::kLiteParamInvalid, "the number of rows of the dataset has changed");
        MSLITE_TRY(dataset_.Read(order[at], i, data + static_cast<size_t>(row) * row_bytes_[i]));
      }
    }
    return mindspore::kSuccess;
  }

 private:
  Status CheckInput(size_t index, const Dataset::Column &column) {
    const MSTensor &input = inputs_[index];
    const std::string label = "input '" + input.Name() + "' and column '" + column.name + "' of the dataset: ";
    if (input.DataType() != column.type) {
      return Fail(mindspore::kLiteParamInvalid, label + "types " + TypeName(static_cast<int32_t>(input.DataType())) +
                                                    " and " + TypeName(static_cast<int32_t>(column.type)));
    }
    int64_t row = 1;
    for (const int64_t dim : column.shape) row *= dim;
    const int64_t elements = input.ElementNum();
    if (row <= 0 || elements <= 0 || elements % row != 0) {
      return Fail(mindspore::kLiteParamInvalid,
                  label + Format("%lld elements are not a multiple of the row size %lld",
                                 static_cast<long long>(elements), static_cast<long long>(row)));
    }
    if (index == 0) rows_ = elements / row;
    const int64_t wanted = dataset_.GetBatchSize() == 0 ? rows_ : dataset_.GetBatchSize();
    if (elements / row == rows_ && rows_ == wanted) return mindspore::kSuccess;
    return Fail(mindspore::kLiteParamInvalid,
                label + Format("it has %lld rows, but a batch has %lld; resize the model",
                               static_cast<long long>(elements / row), static_cast<long long>(wanted)));
  }

  const Dataset &dataset_;
  std::vector<MSTensor> inputs_;
  int64_t rows_ = 1;
  std::vector<size_t> row_bytes_;  // per input
};

Status CheckArguments(const std::shared_ptr<Dataset> &dataset,
                      const std::vector<mindspore::TrainCallBack *> &callbacks) {
  if (dataset == nullptr) return Fail(mindspore::kLiteNullptr, "the dataset is null");
  for (const mindspore::TrainCallBack *callback : callbacks) {
    if (callback == nullptr) return Fail(mindspore::kLiteNullptr, "a callback is null");
  }
  return mindspore::kSuccess;
}
}  // namespace

Status TrainerImpl::Train(Model *model, int epochs, const std::shared_ptr<Dataset> &dataset,
                          const std::vector<mindspore::TrainCallBack *> &callbacks) {
  MSLITE_TRY(CheckArguments(dataset, callbacks));
  if (epochs < 1) return Fail(mindspore::kLiteParamInvalid, "the number of epochs must be at least 1");
  MSLITE_TRY(model->SetTrainMode(true));
  Batches batches(model, dataset.get());
  MSLITE_TRY(batches.Check());
  mindspore::TrainCallBackData data(true, 0, 0, model);
  for (mindspore::TrainCallBack *callback : callbacks) callback->Begin(data);
  bool stops = false;
  for (int epoch = 0; epoch < epochs && !stops; ++epoch) {
    data.epoch_ = static_cast<unsigned int>(epoch);
    data.step_ = 0;
    const std::vector<int64_t> order = dataset->Order(epoch);
    for (mindspore::TrainCallBack *callback : callbacks) callback->EpochBegin(data);
    for (int64_t batch = 0; batch < batches.count(); ++batch) {
      data.step_ = static_cast<unsigned int>(batch);
      MSLITE_TRY(batches.Fill(order, batch));
      for (mindspore::TrainCallBack *callback : callbacks) callback->StepBegin(data);
      MSLITE_TRY(model->SetTrainMode(true));  // a callback may have evaluated
      MSLITE_TRY(model->RunStep());
      for (mindspore::TrainCallBack *callback : callbacks) callback->StepEnd(data);
    }
    for (mindspore::TrainCallBack *callback : callbacks) {
      const mindspore::CallbackRetValue answer = callback->EpochEnd(data);
      if (answer == mindspore::kExit) return mindspore::kSuccess;
      stops = stops || answer == mindspore::kStopTraining;
    }
  }
  for (mindspore::TrainCallBack *callback : callbacks) callback->End(data);
  return mindspore::kSuccess;
}

Status TrainerImpl::Evaluate(Model *model, const std::shared_ptr<Dataset> &dataset,
                             const std::vector<mindspore::TrainCallBack *> &callbacks) {
  MSLITE_TRY(CheckArguments(dataset, callbacks));
  MSLITE_TRY(model->SetTrainMode(false));
  Batches batches(model, dataset.get());
  MSLITE_TRY(batches.Check());
  std::vector<int64_t> order;
  for (int64_t row = 0; row < dataset->GetDatasetSize(); ++row) order.push_back(row);
  std::vector<MSTensor> inputs = ModelAccess::Of(*model)->inputs();
  mindspore::TrainCallBackData data(false, 0, 0, model);
  for (mindspore::Metrics *metric : metrics) metric->Clear();
  for (mindspore::TrainCallBack *callback : callbacks) callback->Begin(data);
  for (mindspore::TrainCallBack *callback : callbacks) callback->EpochBegin(data);
  for (int64_t batch = 0; batch < batches.count(); ++batch) {
    data.step_ = static_cast<unsigned int>(batch);
    MSLITE_TRY(batches.Fill(order, batch));
    for (mindspore::TrainCallBack *callback : callbacks) callback->StepBegin(data);
    MSLITE_TRY(model->SetTrainMode(false));  // a callback may have trained
    MSLITE_TRY(model->Predict());
    std::vector<MSTensor> outputs = ModelAccess::Of(*model)->outputs();
    for (mindspore::Metrics *metric : metrics) metric->Update(Pointers(&inputs), Pointers(&outputs));
    for (mindspore::TrainCallBack *callback : callbacks) callback->StepEnd(data);
  }
  for (mindspore::TrainCallBack *callback : callbacks) callback->EpochEnd(data);
  for (mindspore::TrainCallBack *callback : callbacks) callback->End(data);
  return mindspore::kSuccess;
}
}  // namespace mslite
