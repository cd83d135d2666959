// Packed weights and folded constants of a model: made once, shared by every plan and every session of that model.
#ifndef MSLITE_PLAN_WEIGHTS_H
#define MSLITE_PLAN_WEIGHTS_H

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "kernel.h"
#include "model/bytes.h"
#include "model/graph.h"

namespace mslite {
// A constant that a kernel wants in packed form.
struct PackJob {
  const mslite_kernel *kernel = nullptr;
  mslite_node node = {};   // a view that holds until the job is done
  int32_t node_index = 0;  // the node's place in the graph
  int32_t input = 0;
  int64_t bytes = 0;             // of the packed form
  const void *packed = nullptr;  // result
};

class WeightStore {
 public:
  // Finds or makes the packed form of every job, on up to `threads` threads: packing is most of the time that loading
  // takes. Pages of the model's file that were read for it leave memory. Errors: kLiteMemoryFailed, if there is no
  // memory for those that were not there.
  Status Pack(const Graph &graph, std::vector<PackJob> *jobs, int32_t threads);

  // The value that folding gave for a tensor of the graph, or nullptr.
  const mslite_tensor *Folded(int32_t tensor);

  // Keeps the value of a folded tensor, whose data is `memory`, for every plan and session. Returns the value that all
  // of them use: that of the first caller.
  const mslite_tensor &AddFolded(int32_t tensor, const mslite_tensor &value, AlignedBuffer memory);

  // Bytes of packed weights and folded constants.
  size_t bytes() const { return bytes_; }
  // Bytes of folded constants alone.
  size_t folded_bytes() const { return folded_bytes_; }

 private:
  // Memory that lives as long as the store. Errors: kLiteMemoryFailed.
  Status Keep(uint64_t bytes, uint8_t **memory);

  using Key = std::tuple<const mslite_kernel *, int32_t, int32_t, const void *>;
  std::recursive_mutex mutex_;
  std::map<Key, const void *> packed_;
  std::map<int32_t, mslite_tensor> folded_;
  std::vector<AlignedBuffer> memory_;
  size_t bytes_ = 0;
  size_t folded_bytes_ = 0;
};
}  // namespace mslite

#endif
