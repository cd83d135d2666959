#include "api/runner_batches.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "api/log.h"

namespace mslite {
namespace {
using mindspore::kLiteParamInvalid;
using mindspore::kSuccess;
using mindspore::MSTensor;

constexpr char kSection[] = "dynamic_batching";
constexpr int64_t kMaxRows = 1 << 16;
constexpr int64_t kMaxMicroseconds = 10'000'000;

Status ReadNumber(const std::string &key, const std::string &text, int64_t least, int64_t most, int64_t *number) {
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  if (error == std::errc() && stop == end && *number >= least && *number <= most) return kSuccess;
  return Fail(kLiteParamInvalid, "[" + std::string(kSection) + "] " + key + "=" + text + " is not a number from " +
                                     std::to_string(least) + " to " + std::to_string(most));
}

// Returns true for a numeric tensor with data and a known first dimension.
bool HasRows(const MSTensor &tensor) {
  const MSTensor::Impl *impl = tensor.impl().get();
  return impl != nullptr && impl->type != mindspore::DataType::kObjectTypeString && !impl->shape.empty() &&
         impl->shape[0] > 0 && impl->data != nullptr && impl->DataSize() > 0 && impl->size >= impl->DataSize();
}

bool HasEqualRows(const MSTensor &a, const MSTensor &b) {
  const std::vector<int64_t> &left = a.impl()->shape;
  const std::vector<int64_t> &right = b.impl()->shape;
  return a.impl()->type == b.impl()->type && left.size() == right.size() &&
         std::equal(left.begin() + 1, left.end(), right.begin() + 1);
}

// Returns the common first dimension of the tensors; 0 if there is none.
int64_t RowsOf(const std::vector<MSTensor> &tensors) {
  if (tensors.empty() || !std::all_of(tensors.begin(), tensors.end(), HasRows)) return 0;
  const int64_t rows = tensors[0].impl()->shape[0];
  const auto has_rows = [rows](const MSTensor &tensor) { return tensor.impl()->shape[0] == rows; };
  return std::all_of(tensors.begin(), tensors.end(), has_rows) ? rows : 0;
}

// Copies a result from `data` to the caller's tensor if its memory is large enough, else to a new tensor.
Status PutResult(const MSTensor &source, const uint8_t *data, const std::vector<int64_t> &shape, size_t bytes,
                 MSTensor *result) {
  const MSTensor::Impl *given = result->impl().get();
  if (given != nullptr && given->data != nullptr && !given->is_shown && given->size >= bytes) {
    std::memcpy(result->impl()->data, data, bytes);
    result->impl()->shape = shape;
    result->impl()->type = source.DataType();
    return kSuccess;
  }
  auto impl = std::make_shared<MSTensor::Impl>(source.Name(), source.DataType(), shape);
  impl->format = source.format();
  impl->quant_params = source.QuantParams();
  if (!impl->Copy(data, bytes)) return Fail(mindspore::kLiteMemoryFailed, "no memory for an output");
  *result = MSTensor(impl);
  return kSuccess;
}
}  // namespace

Status BatchSettings::Read(const ConfigSections &sections, BatchSettings *settings) {
  const auto section = sections.find(kSection);
  if (section == sections.end()) return kSuccess;
  for (const auto &[key, text] : section->second) {
    if (key == "max_batch_size") {
      MSLITE_TRY(ReadNumber(key, text, 1, kMaxRows, &settings->most_rows));
    } else if (key == "max_queue_delay_microseconds") {
      MSLITE_TRY(ReadNumber(key, text, 0, kMaxMicroseconds, &settings->microseconds));
    } else {
      return Fail(kLiteParamInvalid, "[" + std::string(kSection) + "] has no key '" + key +
                                         "'; use max_batch_size or max_queue_delay_microseconds");
    }
  }
  return kSuccess;
}

bool Batcher::Joins(const Batch &batch, const Tensors &inputs) {
  const Tensors &first = *batch.members[0]->inputs;
  if (first.size() != inputs.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!HasEqualRows(first[i], inputs[i])) return false;
  }
  return true;
}

Status Batcher::Predict(const Tensors &inputs, Tensors *outputs, const Run &run) {
  const int64_t rows = RowsOf(inputs);
  std::unique_lock<std::mutex> lock(mutex_);
  if (is_refused_ || rows == 0 || rows >= settings_.most_rows) {
    lock.unlock();
    return run(inputs, outputs);
  }
  Member member = {&inputs, outputs, rows, {}};
  if (open_ != nullptr && (open_->rows + rows > settings_.most_rows || !Joins(*open_, inputs))) {
    open_->is_closed = true;  // its first member then runs it
    open_->changed.notify_all();
    open_ = nullptr;
  }
  if (open_ != nullptr) {
    const std::shared_ptr<Batch> batch = open_;
    batch->members.push_back(&member);
    batch->rows += rows;
    if (batch->rows == settings_.most_rows) {
      batch->is_closed = true;
      open_ = nullptr;
      batch->changed.notify_all();
    }
    batch->changed.wait(lock, [&batch] { return batch->has_run; });
    return member.status;
  }
  // The first member of a batch waits for others and runs the batch.
  const auto batch = std::make_shared<Batch>();
  batch->members.push_back(&member);
  batch->rows = rows;
  open_ = batch;
  batch->changed.wait_for(lock, std::chrono::microseconds(settings_.microseconds),
                          [&batch] { return batch->is_closed; });
  batch->is_closed = true;
  if (open_ == batch) open_ = nullptr;
  lock.unlock();
  const Status status = Guard([&] { return RunBatch(batch.get(), run); });
  lock.lock();
  if (status.IsError()) {
    for (Member *other : batch->members) other->status = status;
  }
  batch->has_run = true;
  batch->changed.notify_all();
  return member.status;
}

// Runs a closed batch. The other members wait, so only this thread uses the batch.
Status Batcher::RunBatch(Batch *batch, const Run &run) {
  const auto run_alone = [&] {
    for (Member *member : batch->members) member->status = run(*member->inputs, member->outputs);
    return Status();
  };
  if (batch->members.size() == 1) return run_alone();
  Tensors joined;
  for (size_t i = 0; i < batch->members[0]->inputs->size(); ++i) {
    const MSTensor::Impl &first = *(*batch->members[0]->inputs)[i].impl();
    std::vector<int64_t> shape = first.shape;
    shape[0] = batch->rows;
    joined.emplace_back(std::make_shared<MSTensor::Impl>(first.name, first.type, shape));
    auto *place = static_cast<uint8_t *>(joined.back().MutableData());
    if (place == nullptr) return Fail(mindspore::kLiteMemoryFailed, "no memory for a batch");
    for (const Member *member : batch->members) {
      const MSTensor::Impl &input = *(*member->inputs)[i].impl();
      std::memcpy(place, input.data, input.DataSize());
      place += input.DataSize();
    }
  }
  Tensors results;
  const Status status = run(joined, &results);
  const bool has_batch = status.IsOk() && RowsOf(results) == batch->rows;
  if (status.IsError() && status != mindspore::kLiteInferError) {
    return status == mindspore::kLiteServiceDeny ? status : run_alone();  // a single request may have caused the error
  }
  if (!has_batch) {
    // Each request is run alone, with the results that it would have without batching.
    Log(LogLevel::kWarning,
        "the model cannot be batched: " +
            (status.IsOk() ? "an output has another first dimension than the inputs" : status.GetErrDescription()) +
            "; requests run one by one");
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_refused_ = true;
    }
    return run_alone();
  }
  int64_t row = 0;
  for (Member *member : batch->members) {
    member->outputs->resize(results.size(), MSTensor(nullptr));
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<int64_t> shape = results[i].Shape();
      shape[0] = member->rows;
      const size_t row_bytes = results[i].DataSize() / static_cast<size_t>(batch->rows);
      const auto *data = static_cast<const uint8_t *>(results[i].impl()->data) + static_cast<size_t>(row) * row_bytes;
      member->status =
          PutResult(results[i], data, shape, row_bytes * static_cast<size_t>(member->rows), &(*member->outputs)[i]);
      if (member->status.IsError()) break;
    }
    row += member->rows;
  }
  return kSuccess;
}
}  // namespace mslite
