// Dynamic batching: requests that come at the same time run as one.
#ifndef MSLITE_API_RUNNER_BATCHES_H
#define MSLITE_API_RUNNER_BATCHES_H

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/config.h"
#include "api/tensor.h"
#include "include/api/types.h"

namespace mslite {
struct BatchSettings {
  int64_t most_rows = 1;     // of the first dimension together; 1: no batching
  int64_t microseconds = 0;  // that the first request waits for others

  // Section [dynamic_batching], keys max_batch_size and max_queue_delay_microseconds. Errors: kLiteParamInvalid.
  static Status Read(const ConfigSections &sections, BatchSettings *settings);
};

// Joins requests along the first dimension of all inputs, which all outputs must have, too.
class Batcher {
 public:
  using Tensors = std::vector<mindspore::MSTensor>;
  using Run = std::function<Status(const Tensors &inputs, Tensors *outputs)>;

  explicit Batcher(const BatchSettings &settings) : settings_(settings) {}

  // Runs one request, alone or with others; `run` runs a whole batch, and fills in outputs that nobody else writes.
  // Requests whose other dimensions differ do not join. Where the model does not take the joined shape, or has outputs
  // without the batch, each request runs alone, from then on at once.
  Status Predict(const Tensors &inputs, Tensors *outputs, const Run &run);

 private:
  struct Member {
    const Tensors *inputs;
    Tensors *outputs;
    int64_t rows;
    Status status;
  };
  struct Batch {
    std::vector<Member *> members;
    int64_t rows = 0;
    bool is_closed = false;
    bool has_run = false;
    std::condition_variable changed;
  };
  static bool Joins(const Batch &batch, const Tensors &inputs);
  Status RunBatch(Batch *batch, const Run &run);

  BatchSettings settings_;
  std::mutex mutex_;
  std::shared_ptr<Batch> open_;  // that requests may join
  bool is_refused_ = false;      // the model cannot be batched
};
}  // namespace mslite

#endif
