// RequestQueue: a bounded queue of asynchronous requests with priorities and cancellation.
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
constexpr size_t kMaxQueuedRequests = 1000;

class RequestQueue;

// One request: waiting, running or ended. `done` is called once, and the promise is set once.
class Request {
 public:
  // Marks the request as running. Returns false if it has been canceled.
  bool Start();
  // Called before the first operator of the run. `stop` cancels the run and is only called until End. Errors:
  // kLiteServiceDeny if the request has been canceled.
  Status Begin(std::function<bool()> stop);
  void End();

  bool Cancel();
  Status Wait();
  bool IsDone();
  // Ends the request with a status. Has no effect if it has already ended.
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

// A queue with threads that run requests in the order of priority and arrival. The destructor runs waiting requests,
// unless it is called in a callback of one of these requests.
class RequestQueue {
 public:
  using Run = std::function<Status(Request *request)>;

  // Threads are created when requests are added.
  RequestQueue(Run run, int32_t threads) : state_(std::make_shared<State>(std::move(run))), most_threads_(threads) {}
  ~RequestQueue() { Close(); }
  RequestQueue(const RequestQueue &) = delete;
  RequestQueue &operator=(const RequestQueue &) = delete;

  void SetCapacity(size_t capacity);
  // Adds a request. If it fails or throws, the request does not change. Errors: kLiteServiceDeny if the queue is full.
  Status Add(const std::shared_ptr<Request> &request);
  // Runs the waiting requests and ends the threads.
  void Close();

 private:
  struct State {
    explicit State(Run function) : run(std::move(function)) {}
    std::mutex mutex;
    std::condition_variable wake;
    std::map<std::pair<int64_t, uint64_t>, std::shared_ptr<Request>> waiting;
    Run run;
    size_t capacity = kMaxQueuedRequests;
    uint64_t next = 0;
    int32_t idle = 0;
    bool is_closed = false;
    bool is_orphan = false;  // the model of the requests has been destroyed
  };
  static void Work(const std::shared_ptr<State> &state);

  std::shared_ptr<State> state_;
  int32_t most_threads_;
  std::vector<std::thread> threads_;
  int64_t process_ = 0;  // ID of the process that created the threads
};
// How the end of a request is reported, and its priority.
struct Completion {
  std::function<void(const Status &)> done;
  std::shared_ptr<std::promise<Status>> promise;
  int32_t priority = 0;
};

// Adds a request to a queue. If this fails, the request has ended when the function returns; if `queue` is null, with
// the status `missing`. Returns null if memory is exhausted, which is also reported to `delivery`.
std::shared_ptr<Request> Submit(RequestQueue *queue, const Status &missing,
                                const std::vector<mindspore::MSTensor> &inputs,
                                std::vector<mindspore::MSTensor> *outputs, const Completion &delivery);
// The same with a callback, which may be empty. It is also called if memory for its copy is exhausted.
std::shared_ptr<Request> Submit(RequestQueue *queue, const Status &missing,
                                const std::vector<mindspore::MSTensor> &inputs,
                                std::vector<mindspore::MSTensor> *outputs,
                                const std::function<void(const Status &)> &done, int32_t priority);
// The same with a future, which always gets a status.
std::future<Status> SubmitForFuture(RequestQueue *queue, const Status &missing,
                                    const std::vector<mindspore::MSTensor> &inputs,
                                    std::vector<mindspore::MSTensor> *outputs);
}  // namespace mslite

#endif
