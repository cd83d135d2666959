#include "plan/weights.h"

#include <algorithm>
#include <cinttypes>

#include "model/pages.h"
#include "plan/frame.h"
#include "plan/memory.h"
#include "threads/thread_pool.h"

namespace mslite {
Status WeightStore::Keep(uint64_t bytes, uint8_t **memory) {
  AlignedBuffer buffer = MakeAligned(bytes);
  if (buffer == nullptr) {
    return Fail(mindspore::kLiteMemoryFailed, Format("no memory for %" PRIu64 " bytes of weights", bytes));
  }
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  *memory = buffer.get();
  memory_.push_back(std::move(buffer));
  bytes_ += static_cast<size_t>(bytes);
  return mindspore::kSuccess;
}

Status WeightStore::Pack(const Graph &graph, std::vector<PackJob> *jobs, int32_t threads) {
  struct Work {
    const Graph *graph;
    const PackJob *job;
    uint8_t *memory;
  };
  const auto key = [](const PackJob &job) {
    return Key{job.kernel, job.node_index, job.input, job.node.inputs[job.input]->data};
  };
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  // One block in the order of use, so that large pages can be used.
  uint64_t bytes = 0;
  for (PackJob &job : *jobs) {
    const auto place = packed_.find(key(job));
    if (place != packed_.end()) {
      job.packed = place->second;
    } else {
      bytes += static_cast<uint64_t>(AlignedSize(job.bytes));
    }
  }
  uint8_t *memory = nullptr;
  if (bytes > 0) MSLITE_TRY(Keep(bytes, &memory));
  std::vector<Work> work;
  for (PackJob &job : *jobs) {
    if (job.packed != nullptr) continue;
    job.packed = memory;
    work.push_back({&graph, &job, memory});
    memory += static_cast<size_t>(AlignedSize(job.bytes));
  }
  // Sorted by size, so that no thread starts a large one last.
  std::sort(work.begin(), work.end(), [](const Work &a, const Work &b) { return a.job->bytes > b.job->bytes; });
  const auto pack = [](void *context, int32_t part, int32_t /*thread*/) {
    const Work &mine = (*static_cast<std::vector<Work> *>(context))[static_cast<size_t>(part)];
    const mslite_node &node = mine.job->node;
    const mslite_tensor &source = *node.inputs[mine.job->input];
    mine.job->kernel->pack(&node, mine.job->input, source.data, mine.memory);
    // Releases the pages at once, so that the file and the packed forms are never in memory completely at the same
    // time.
    ReleasePages(*mine.graph, source.data, static_cast<size_t>(ByteSize(ShapeOf(source))));
  };
  ThreadPool::Instance().Run(pack, &work, static_cast<int32_t>(work.size()), threads);
  // Added only now, because other threads must not find them earlier.
  for (const Work &done : work) packed_.emplace(key(*done.job), done.memory);
  return mindspore::kSuccess;
}

const mslite_tensor *WeightStore::Folded(int32_t tensor) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  const auto place = folded_.find(tensor);
  return place == folded_.end() ? nullptr : &place->second;
}

const mslite_tensor &WeightStore::AddFolded(int32_t tensor, const mslite_tensor &value, AlignedBuffer memory) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (const auto place = folded_.find(tensor); place != folded_.end()) return place->second;
  memory_.push_back(std::move(memory));  // before the entry that points to it: either may fail if memory is out
  const auto place = folded_.emplace(tensor, value).first;
  const auto bytes = static_cast<size_t>(std::max<int64_t>(ByteSize(ShapeOf(value)), 0));
  bytes_ += bytes;
  folded_bytes_ += bytes;
  return place->second;
}
}  // namespace mslite
