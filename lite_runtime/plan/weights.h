// Packed weights and folded constants of a model: made once, shared by every plan and every session of that model.
#ifndef MSLITE_PLAN_WEIGHTS_H
#define MSLITE_PLAN_WEIGHTS_H

#include <map>
#include <mutex>
#include <tuple>

#include "kernel.h"
#include "model/bytes.h"

namespace mslite {
class WeightStore {
 public:
  // The packed form of constant `input` of `node` for `kernel`; nullptr in `packed` when the kernel reads the constant
  // as it is. `node_index` is the node's place in the graph.
  Status Pack(const mslite_kernel &kernel, const mslite_node &node, int32_t node_index, int32_t input,
              const void **packed);

  // Memory that lives as long as the store. Errors: kLiteMemoryFailed.
  Status Keep(size_t bytes, uint8_t **memory);

  // The value that folding gave for a tensor of the graph, or nullptr.
  const mslite_tensor *Folded(int32_t tensor);
  void SetFolded(int32_t tensor, const mslite_tensor &value);

  // Bytes of packed weights and folded constants.
  size_t bytes() const { return bytes_; }

 private:
  using Key = std::tuple<const mslite_kernel *, int32_t, int32_t, const void *>;
  std::recursive_mutex mutex_;
  std::map<Key, const void *> packed_;
  std::map<int32_t, mslite_tensor> folded_;
  std::vector<AlignedBuffer> memory_;
  size_t bytes_ = 0;
};
}  // namespace mslite

#endif
