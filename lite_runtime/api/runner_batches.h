// Dynamic batching: requests that arrive at about the same time are run as one batch.
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
  int64_t most_rows = 1;     // maximum of the first dimension of a batch; 1: no batching
  int64_t microseconds = 0;  // time that the first request waits for others

  // Reads max_batch_size and max_queue_delay_microseconds of section [dynamic_batching]. Errors: kLiteParamInvalid.
  static Status Read(const ConfigSections &sections, BatchSettings *settings);
};

// Concatenates requests along the first dimension of all inputs. All outputs must have this dimension too.
class Batcher {
 public:
  using Tensors = std::vector<mindspore::MSTensor>;
  using Run = std::function<Status(const Tensors &inputs, Tensors *outputs)>;

  explicit Batcher(const BatchSettings &settings) : settings_(settings) {}

  // Runs one request, alone or in a batch. `run` runs a whole batch and returns outputs that no other run writes. Only
  // requests with equal other dimensions are batched. If the model does not support the shape of the batch, or has
  // outputs without the batch dimension, this and all later requests run alone.
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
  std::shared_ptr<Batch> open_;  // the batch that requests may join, or null
  bool is_refused_ = false;      // the model cannot be batched
};
}  // namespace mslite

#endif
