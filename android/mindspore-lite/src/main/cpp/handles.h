// Handles: integers by which Java refers to native objects. A handle is not an address and is never reused. Each call
// looks up the handle and keeps the object alive until it returns, so that an invalid or freed handle throws a Java
// exception and never accesses freed memory.
#ifndef MSLITE_ANDROID_HANDLES_H
#define MSLITE_ANDROID_HANDLES_H

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/graph.h"
#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"
#include "include/mslite/async_run.h"
#include "java.h"

namespace mslite::java {
enum class Kind : int64_t {
  kGraph = 1,
  kContext,
  kTrainCfg,
  kRunnerConfig,
  kModel,
  kRunner,
  kTensor,
  kModelTensor,
  kRequest
};

// Serializes the calls on an object. An asynchronous run does not hold the mutex, but counts in `runs` for each object
// that it uses.
struct Turn {
  std::mutex mutex;
  std::atomic<int> runs{0};
};

struct Object {
  Object() : turn(std::make_shared<Turn>()) {}
  explicit Object(std::shared_ptr<Turn> shared) : turn(std::move(shared)) {}
  virtual ~Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;

  // Throws if a run uses the object. Called with the mutex of `turn` held.
  void RefuseDuringRuns() const;

  const std::shared_ptr<Turn> turn;
};

struct GraphObject : Object {
  static constexpr Kind kKind = Kind::kGraph;
  mindspore::Graph graph;
};

struct ContextObject : Object {
  static constexpr Kind kKind = Kind::kContext;
  std::shared_ptr<mindspore::Context> context = std::make_shared<mindspore::Context>();
};

struct TrainCfgObject : Object {
  static constexpr Kind kKind = Kind::kTrainCfg;
  std::shared_ptr<mindspore::TrainCfg> config = std::make_shared<mindspore::TrainCfg>();
};

struct RunnerConfigObject : Object {
  static constexpr Kind kKind = Kind::kRunnerConfig;
  std::shared_ptr<mindspore::RunnerConfig> config = std::make_shared<mindspore::RunnerConfig>();
  std::shared_ptr<ContextObject> context;  // null if it has no context
};

struct RunnerObject : Object {
  static constexpr Kind kKind = Kind::kRunner;
  mindspore::ModelParallelRunner runner;
};

// A request of predictAsync that has not ended.
struct RequestObject : Object {
  static constexpr Kind kKind = Kind::kRequest;
  mslite::AsyncRun run;
};

struct ModelObject;

struct TensorObject : Object {
  static constexpr Kind kKind = Kind::kTensor;
  explicit TensorObject(const mindspore::MSTensor &shown) : tensor(shown) {}
  TensorObject(const mindspore::MSTensor &shown, const std::shared_ptr<ModelObject> &owner, bool written);

  mindspore::MSTensor tensor;
  size_t bytes = 0;  // size of the current contents, which may differ from the size of the current shape
  GlobalRef buffer;  // the direct ByteBuffer whose memory the tensor refers to
  bool is_output = false;
  bool is_of_model = false;
  std::weak_ptr<ModelObject> model;
};

struct ModelObject : Object {
  static constexpr Kind kKind = Kind::kModel;
  // ShowResults makes the outputs readable after a run. ForgetResults is called before the memory of results may
  // change.
  void ShowResults();
  void ForgetResults();

  mindspore::Model model;
  bool is_built = false;
  bool is_for_training = false;
  // Inputs, then outputs. They live as long as the model, which may refer to their buffers.
  std::vector<std::shared_ptr<TensorObject>> tensors;
  std::vector<int64_t> input_handles;
  std::vector<int64_t> output_handles;
};

// Updates the output tensors after the model's outputs have changed. Output i keeps its handle. Called with the mutex
// of the model's turn held.
void FollowOutputs(const std::shared_ptr<ModelObject> &model);

// Adds an object and returns its handle.
int64_t AddHandle(Kind kind, std::shared_ptr<Object> object);
// Returns the object of a handle. Throws if there is none of this kind.
std::shared_ptr<Object> FindHandle(int64_t handle, Kind kind);
// Removes a handle, and the handles of a model's tensors. Waits for calls that use the model.
void ReleaseHandle(int64_t handle);

template <typename T>
std::shared_ptr<T> Find(int64_t handle) {
  return std::static_pointer_cast<T>(FindHandle(handle, T::kKind));
}

template <typename T>
int64_t Add(std::shared_ptr<T> object) {
  return AddHandle(T::kKind, std::move(object));
}

// An object that is kept alive and locked for one call.
template <typename T>
class Held {
 public:
  explicit Held(int64_t handle) : object_(Find<T>(handle)), lock_(object_->turn->mutex) {}
  T *operator->() const { return object_.get(); }
  const std::shared_ptr<T> &object() const { return object_; }

 private:
  std::shared_ptr<T> object_;
  std::unique_lock<std::mutex> lock_;
};

// The same for a tensor. Its model is kept alive too.
class HeldTensor {
 public:
  explicit HeldTensor(int64_t handle);
  TensorObject *operator->() const { return object_.get(); }

 private:
  std::shared_ptr<TensorObject> object_;
  std::shared_ptr<ModelObject> model_;
  std::unique_lock<std::mutex> lock_;
};

// Counts as a run of an object until it is destroyed. Created with the mutex of the object's turn held.
class Use {
 public:
  explicit Use(std::shared_ptr<Object> object, std::shared_ptr<ModelObject> model = nullptr);
  ~Use();
  Use(Use &&) = default;
  Use &operator=(Use &&) = delete;

 private:
  std::shared_ptr<Object> object_;
  std::shared_ptr<ModelObject> model_;  // the model of a tensor, which is kept alive
};

// Returns the error for reading a tensor that has no data for its type and shape.
Failure NoContents(const TensorObject &object);

// The input tensors of a run, which count as used until this is destroyed.
struct UsedTensors {
  std::vector<mindspore::MSTensor> tensors;
  std::vector<Use> uses;

  explicit UsedTensors(const std::vector<int64_t> &handles);
  UsedTensors() = default;
};

// Returns handles of independent copies of the tensors.
std::vector<int64_t> AddCopies(const std::vector<mindspore::MSTensor> &tensors);
}  // namespace mslite::java

#endif
