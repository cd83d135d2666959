// Requests that wait for a thread: a bounded queue, by priority, with cancellation.
#ifndef MSLITE_API_REQUEST_QUEUE_H
#define MSLITE_API_REQUEST_QUEUE_H

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "include/api/types.h"
#include "model/message.h"

namespace mslite {
constexpr size_t kMostWaiting = 1000;

class RequestQueue;

// One request. It goes from waiting to running to ended; `done` is called, and the promise kept, once.
class Request {
 public:
  // Takes it out of waiting; false when it has been canceled.
  bool Start();
  // Who runs the request asks before its first operator whether it still is to run; `stop` ends that run, and is called
  // only until End. A run that is canceled before it begins gives kLiteServiceDeny.
  Status Begin(std::function<bool()> stop);
  void End();

  bool Cancel();
  Status Wait();
  bool IsDone();
  // The request is over. Does nothing when it is already.
  void Finish(const Status &status);

  std::vector<mindspore::MSTensor> inputs;
  std::vector<mindspore::MSTensor> *outputs = nullptr;
  std::function<void(const Status &)> done;
  std::shared_ptr<std::promise<Status>> promise;
  int32_t priority = 0;

 private:
  enum class State : uint8_t { kWaiting, kRunning, kEnding, kEnded };
  void Conclude(const Status &status);

  std::mutex mutex_;
  std::condition_variable ended_;
  State state_ = State::kWaiting;
  bool is_canceled_ = false;
  std::function<bool()> stop_;
  Status status_;
};

// Threads that run requests in the order of their priority and arrival. What waits when the queue goes is still run,
// unless it goes in a callback of one of its own requests.
class RequestQueue {
 public:
  using Run = std::function<Status(Request *request)>;

  // Threads are made with the first request.
  RequestQueue(Run run, int32_t threads) : state_(std::make_shared<State>(std::move(run))), most_threads_(threads) {}
  ~RequestQueue() { Close(); }
  RequestQueue(const RequestQueue &) = delete;
  RequestQueue &operator=(const RequestQueue &) = delete;

  void SetCapacity(size_t capacity);
  // Takes the request, or leaves it as it is and fails or throws. Errors: kLiteServiceDeny when the queue is full.
  Status Add(const std::shared_ptr<Request> &request);
  // Runs what waits, and ends the threads.
  void Close();

 private:
  struct State {
    explicit State(Run function) : run(std::move(function)) {}
    std::mutex mutex;
    std::condition_variable wake;
    std::map<std::pair<int64_t, uint64_t>, std::shared_ptr<Request>> waiting;
    Run run;
    size_t capacity = kMostWaiting;
    uint64_t next = 0;
    int32_t idle = 0;
    bool is_closed = false;
    bool is_orphan = false;  // who runs requests is gone
  };
  static void Work(const std::shared_ptr<State> &state);

  std::shared_ptr<State> state_;
  int32_t most_threads_;
  std::vector<std::thread> threads_;
  int64_t process_ = 0;  // that made them
};
// Whom to tell of a request's end, and how urgent it is.
struct Delivery {
  std::function<void(const Status &)> done;
  std::shared_ptr<std::promise<Status>> promise;
  int32_t priority = 0;
};

// Queues a request; one that cannot be queued has ended when this returns, without a queue with the status `missing`.
// Null when there is no memory for a request; the delivery is told.
std::shared_ptr<Request> Submit(RequestQueue *queue, const Status &missing,
                                const std::vector<mindspore::MSTensor> &inputs,
                                std::vector<mindspore::MSTensor> *outputs, const Delivery &delivery);
// The same for a function, which is told also when there is no memory to copy it; it may be empty.
std::shared_ptr<Request> Submit(RequestQueue *queue, const Status &missing,
                                const std::vector<mindspore::MSTensor> &inputs,
                                std::vector<mindspore::MSTensor> *outputs,
                                const std::function<void(const Status &)> &done, int32_t priority);
// The same with a future, which gets its status whatever happens.
std::future<Status> SubmitForFuture(RequestQueue *queue, const Status &missing,
                                    const std::vector<mindspore::MSTensor> &inputs,
                                    std::vector<mindspore::MSTensor> *outputs);
}  // namespace mslite

#endif
