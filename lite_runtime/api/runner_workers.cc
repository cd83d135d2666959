#include "api/runner_workers.h"

#include "api/log.h"

namespace mslite {
using mindspore::kLiteServiceDeny;
using mindspore::kSuccess;

std::vector<mindspore::MSTensor> Descriptions(const std::vector<mindspore::MSTensor> &tensors) {
  std::vector<mindspore::MSTensor> result;
  for (const mindspore::MSTensor &tensor : tensors) {
    result.emplace_back(std::make_shared<mindspore::MSTensor::Impl>(tensor.Name(), tensor.DataType(), tensor.Shape()));
    result.back().SetFormat(tensor.format());
    result.back().SetQuantParams(tensor.QuantParams());
  }
  return result;
}

Status WorkerSet::Create(const std::shared_ptr<SharedModel> &model,
                         const std::vector<std::shared_ptr<mindspore::Context>> &contexts,
                         const ConfigSections &sections, std::shared_ptr<WorkerSet> *set) {
  auto result = std::make_shared<WorkerSet>();
  for (const auto &context : contexts) {
    result->workers.push_back(std::make_unique<mindspore::ModelImpl>());
    result->workers.back()->config = sections;
    MSLITE_TRY(result->workers.back()->Build(model, context));
  }
  result->inputs = Descriptions(result->workers[0]->inputs());
  result->outputs = Descriptions(result->workers[0]->outputs());
  for (const auto &worker : result->workers) result->idle.push_back(worker.get());
  *set = std::move(result);
  return kSuccess;
}

Status WorkerQueue::Take(int32_t priority, Lease *lease) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (set_->idle.empty() || !waiting_.empty()) {
    if (waiting_.size() >= kMaxQueuedRequests) {
      return Fail(kLiteServiceDeny, Format("%zu requests are waiting; try again later", waiting_.size()));
    }
    Waiter waiter;
    waiter.lease = lease;
    waiting_.emplace(std::make_pair(-int64_t{priority}, next_++), &waiter);
    waiter.wake.wait(lock, [lease] { return lease->worker_ != nullptr; });
    return kSuccess;
  }
  lease->desk_ = this;
  lease->set_ = set_;
  lease->worker_ = set_->idle.back();  // the last used one, because of the processor caches
  set_->idle.pop_back();
  return kSuccess;
}

// Assigns idle workers to waiting requests.
void WorkerQueue::Serve() {
  while (!set_->idle.empty() && !waiting_.empty()) {
    Waiter *first = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    first->lease->desk_ = this;
    first->lease->set_ = set_;
    first->lease->worker_ = set_->idle.back();
    set_->idle.pop_back();
    first->wake.notify_one();
  }
}

void WorkerQueue::Return(Lease *lease) {
  const std::shared_ptr<WorkerSet> set =
      std::move(lease->set_);  // the last reference must be released without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  set->idle.push_back(lease->worker_);
  if (set == set_) Serve();
}

void WorkerQueue::Replace(std::shared_ptr<WorkerSet> set) {
  const std::lock_guard<std::mutex> lock(mutex_);
  set_.swap(set);
  Serve();
}

std::shared_ptr<const WorkerSet> WorkerQueue::set() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return set_;
}
}  // namespace mslite
