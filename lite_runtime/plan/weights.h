// Packed weights and folded constants of a model, shared by all plans and sessions of that model.
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
// A constant to pack for a kernel.
struct PackJob {
  const mslite_kernel *kernel = nullptr;
  mslite_node node = {};   // valid until the job is done
  int32_t node_index = 0;  // index of the node in the graph
  int32_t input = 0;
  int64_t bytes = 0;             // of the packed form
  const void *packed = nullptr;  // result
};

class WeightStore {
 public:
  // Finds or makes the packed form of every job, on up to `threads` threads, because packing takes most of the load
  // time. Pages of the model file that were read are released. Errors: kLiteMemoryFailed.
  Status Pack(const Graph &graph, std::vector<PackJob> *jobs, int32_t threads);

  // Returns the folded value of a tensor of the graph, or nullptr.
  const mslite_tensor *Folded(int32_t tensor);

  // Stores a folded value, whose data is in `memory`, for all plans and sessions. Returns the stored value: if several
  // callers fold a tensor, that of the first.
  const mslite_tensor &AddFolded(int32_t tensor, const mslite_tensor &value, AlignedBuffer memory);

  // The bytes of packed weights and folded constants.
  size_t bytes() const { return bytes_; }
  // The bytes of folded constants.
  size_t folded_bytes() const { return folded_bytes_; }

 private:
  // Allocates memory that lives as long as this object. Errors: kLiteMemoryFailed.
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
