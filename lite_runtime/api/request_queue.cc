#include "api/request_queue.h"

#include <unistd.h>

#include <algorithm>

#include "api/log.h"
#include "api/reserve.h"

namespace mslite {
using mindspore::kLiteServiceDeny;
using mindspore::kSuccess;

bool Request::Start() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kWaiting) return false;
  state_ = State::kRunning;
  return true;
}

Status Request::Begin(std::function<bool()> stop) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_canceled_) return Fail(kLiteServiceDeny, "the run was canceled");
  stop_ = std::move(stop);
  return kSuccess;
}

void Request::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stop_ = nullptr;
}

bool Request::Cancel() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (state_ == State::kEnding || state_ == State::kEnded) return false;
  is_canceled_ = true;
  if (state_ == State::kWaiting) {
    state_ = State::kEnding;  // it cannot be started any more
    lock.unlock();
    Conclude(Guard([] { return Fail(kLiteServiceDeny, "the run was canceled"); }));
    return true;
  }
  // Before its first operator, a run cannot be canceled yet. The call is repeated until it can.
  while (state_ == State::kRunning && stop_ && !stop_()) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  return true;
}

Status Request::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return state_ == State::kEnded; });
  return status_;
}

bool Request::IsDone() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_ == State::kEnded;
}

void Request::Finish(const Status &status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kEnding || state_ == State::kEnded) return;
    state_ = State::kEnding;
  }
  Conclude(status);
}

// Sets the promise, calls `done` and sets the state. No other thread uses the request during this.
void Request::Conclude(const Status &status) {
  if (promise) promise->set_value(status);
  Guard([&]() -> Status {
    if (done) done(status);
    return kSuccess;
  });
  // These objects may own the last reference to the model, whose destructor waits for threads. They must be destroyed
  // without the lock.
  const std::vector<mindspore::MSTensor> held = std::move(inputs);
  const std::function<void(const Status &)> called = std::move(done);
  done = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    status_ = status;
    state_ = State::kEnded;
  }
  ended_.notify_all();
}

void RequestQueue::SetCapacity(size_t capacity) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->capacity = capacity;
}

Status RequestQueue::Add(const std::shared_ptr<Request> &request) {
  State &state = *state_;
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.is_closed) return Fail(mindspore::kLiteUninitializedObj, "the model is being destroyed");
  if (!threads_.empty() && process_ != getpid()) {
    return Fail(mindspore::kLiteThreadPoolError,
                "the process was forked after the first asynchronous request of this model; build the model again");
  }
  if (state.waiting.size() >= state.capacity) {
    // Requests that were canceled while they waited are still in the queue.
    for (auto place = state.waiting.begin(); place != state.waiting.end();) {
      place = place->second->IsDone() ? state.waiting.erase(place) : std::next(place);
    }
    if (state.waiting.size() >= state.capacity) {
      return Fail(kLiteServiceDeny, Format("%zu requests are waiting; try again later", state.waiting.size()));
    }
  }
  if (state.idle <= static_cast<int32_t>(state.waiting.size()) &&
      static_cast<int32_t>(threads_.size()) < most_threads_) {
    threads_.emplace_back(Work, state_);
    process_ = getpid();
  }
  state.waiting.emplace(std::make_pair(-int64_t{request->priority}, state.next++), request);
  state.wake.notify_one();
  return kSuccess;
}

void RequestQueue::Close() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->is_closed = true;
  }
  state_->wake.notify_all();
  if (!threads_.empty() && process_ != getpid()) {
    // The threads do not exist in this process. Joining or detaching them is undefined, so the objects are leaked.
    static_cast<void>(new std::vector<std::thread>(std::move(threads_)));
    return;
  }
  const auto own = std::find_if(threads_.begin(), threads_.end(), [](const std::thread &thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  const bool is_own = own != threads_.end();
  if (is_own) {
    own->detach();
    threads_.erase(own);
  }
  const auto leave = [this] {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->is_orphan = true;
  };
  if (is_own && threads_.empty()) leave();
  for (std::thread &thread : threads_) thread.join();
  threads_.clear();
  if (is_own) leave();
}

void RequestQueue::Work(const std::shared_ptr<State> &state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  while (true) {
    ++state->idle;
    state->wake.wait(lock, [&state] { return state->is_closed || !state->waiting.empty(); });
    --state->idle;
    if (state->waiting.empty()) return;
    std::shared_ptr<Request> request = std::move(state->waiting.begin()->second);
    state->waiting.erase(state->waiting.begin());
    const bool is_orphan = state->is_orphan;
    lock.unlock();
    if (request->Start()) {
      request->Finish(Guard([&]() -> Status {
        if (is_orphan) return Fail(mindspore::kLiteUninitializedObj, "the model was destroyed before this request ran");
        return state->run(request.get());
      }));
    }
    request.reset();
    lock.lock();
  }
}

std::shared_ptr<Request> Submit(RequestQueue *queue, const Status &missing,
                                const std::vector<mindspore::MSTensor> &inputs,
                                std::vector<mindspore::MSTensor> *outputs, const Completion &delivery) {
  std::shared_ptr<Request> request;
  const Status status = Guard([&]() -> Status {
    auto made = std::make_shared<Request>();
    made->inputs = inputs;
    made->outputs = outputs;
    made->done = delivery.done;
    made->priority = delivery.priority;
    request = std::move(made);
    request->promise = delivery.promise;
    if (queue == nullptr) return missing;
    if (outputs == nullptr) return Fail(mindspore::kLiteNullptr, "outputs is null");
    return queue->Add(request);
  });
  if (status.IsOk()) return request;
  if (request != nullptr) {
    request->Finish(status);
    return request;
  }
  Guard([&]() -> Status {
    if (delivery.promise) delivery.promise->set_value(status);
    if (delivery.done) delivery.done(status);
    return kSuccess;
  });
  return request;
}

std::shared_ptr<Request> Submit(RequestQueue *queue, const Status &missing,
                                const std::vector<mindspore::MSTensor> &inputs,
                                std::vector<mindspore::MSTensor> *outputs,
                                const std::function<void(const Status &)> &done, int32_t priority) {
  std::shared_ptr<Request> request;
  const Status status = Guard([&]() -> Status {
    const Completion delivery = {done, {}, priority};
    request = Submit(queue, missing, inputs, outputs, delivery);
    return kSuccess;
  });
  if (status.IsError()) {
    Guard([&]() -> Status {
      if (done) done(status);
      return kSuccess;
    });
  }
  return request;
}

std::future<Status> SubmitForFuture(RequestQueue *queue, const Status &missing,
                                    const std::vector<mindspore::MSTensor> &inputs,
                                    std::vector<mindspore::MSTensor> *outputs) {
  return CallOrDefault([&] {
    const ReserveAllocator<char> reserve;
    const auto promise = std::allocate_shared<std::promise<Status>>(reserve, std::allocator_arg, reserve);
    std::future<Status> future = promise->get_future();
    Submit(queue, missing, inputs, outputs, {{}, promise, 0});
    return future;
  });
}
}  // namespace mslite
