#include "plan/weights.h"

namespace mslite {
Status WeightStore::Keep(size_t bytes, uint8_t **memory) {
  AlignedBuffer buffer = MakeAligned(bytes);
  if (buffer == nullptr) {
    return Fail(mindspore::kLiteMemoryFailed, Format("no memory for %zu bytes of weights", bytes));
  }
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  *memory = buffer.get();
  memory_.push_back(std::move(buffer));
  bytes_ += bytes;
  return mindspore::kSuccess;
}

Status WeightStore::Pack(const mslite_kernel &kernel, const mslite_node &node, int32_t node_index, int32_t input,
                         const void **packed) {
  *packed = nullptr;
  const void *source = node.inputs[input]->data;
  if (kernel.pack_size == nullptr || source == nullptr) return mindspore::kSuccess;
  const int64_t bytes = kernel.pack_size(&node, input);
  if (bytes == 0) return mindspore::kSuccess;
  if (bytes < 0) return Fail(mindspore::kLiteError, std::string(kernel.name) + ": impossible size of packed weights");
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  const void *&place = packed_[{&kernel, node_index, input, source}];
  if (place == nullptr) {
    uint8_t *memory = nullptr;
    MSLITE_TRY(Keep(static_cast<size_t>(bytes), &memory));
    kernel.pack(&node, input, source, memory);
    place = memory;
  }
  *packed = place;
  return mindspore::kSuccess;
}

const mslite_tensor *WeightStore::Folded(int32_t tensor) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  const auto place = folded_.find(tensor);
  return place == folded_.end() ? nullptr : &place->second;
}

void WeightStore::SetFolded(int32_t tensor, const mslite_tensor &value) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  folded_.emplace(tensor, value);
}
}  // namespace mslite
