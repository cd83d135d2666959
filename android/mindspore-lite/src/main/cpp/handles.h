// The native objects that Java refers to, by numbers. A number is no address and is never given twice; each call looks
// it up and holds the object until it ends, so that one that is stale, made up, or freed by another thread meanwhile is
// an exception of Java's, and never memory that is gone.
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

// Calls take turns. What a run reads or writes without holding the turn until it ends counts as a run.
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

  // Throws while a run uses the object. Call it with the turn held.
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
  std::shared_ptr<ContextObject> context;  // null: none
};

struct RunnerObject : Object {
  static constexpr Kind kKind = Kind::kRunner;
  mindspore::ModelParallelRunner runner;
};

// A request of predictAsync, until it has ended.
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
  size_t bytes = 0;  // of contents that are really there; shapes may change after them
  GlobalRef buffer;  // the direct ByteBuffer whose memory the tensor refers to
  bool is_output = false;
  bool is_of_model = false;
  std::weak_ptr<ModelObject> model;
};

struct ModelObject : Object {
  static constexpr Kind kKind = Kind::kModel;
  // After a run, or before what may move its results.
  void ShowResults();
  void ForgetResults();

  mindspore::Model model;
  bool is_built = false;
  bool is_for_training = false;
  // Inputs, then outputs. They stay as long as the model, for it may refer to their buffers.
  std::vector<std::shared_ptr<TensorObject>> tensors;
  std::vector<int64_t> input_handles;
  std::vector<int64_t> output_handles;
};

// Makes the outputs that the model has now known: in the places of those before, whose numbers stay. Call it with the
// model's turn held.
void FollowOutputs(const std::shared_ptr<ModelObject> &model);

// The number of a new object.
int64_t AddHandle(Kind kind, std::shared_ptr<Object> object);
// The object of a number; throws when there is none of that kind.
std::shared_ptr<Object> FindHandle(int64_t handle, Kind kind);
// Forgets a number, and those of a model's tensors; waits for calls that hold the object's turn.
void ReleaseHandle(int64_t handle);

template <typename T>
std::shared_ptr<T> Find(int64_t handle) {
  return std::static_pointer_cast<T>(FindHandle(handle, T::kKind));
}

template <typename T>
int64_t Add(std::shared_ptr<T> object) {
  return AddHandle(T::kKind, std::move(object));
}

// An object for one call, with its turn.
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

// The same for a tensor, whose model stays, too.
class HeldTensor {
 public:
  explicit HeldTensor(int64_t handle);
  TensorObject *operator->() const { return object_.get(); }

 private:
  std::shared_ptr<TensorObject> object_;
  std::shared_ptr<ModelObject> model_;
  std::unique_lock<std::mutex> lock_;
};

// Counts as a run of an object while it lives. Make it with the object's turn held.
class Use {
 public:
  explicit Use(std::shared_ptr<Object> object, std::shared_ptr<ModelObject> model = nullptr);
  ~Use();
  Use(Use &&) = default;
  Use &operator=(Use &&) = delete;

 private:
  std::shared_ptr<Object> object_;
  std::shared_ptr<ModelObject> model_;  // of a tensor: stays, too
};

// Why a tensor cannot be read: nothing was set or computed for its shape.
Failure NoContents(const TensorObject &object);

// Tensors that a run reads, in use by it.
struct UsedTensors {
  std::vector<mindspore::MSTensor> tensors;
  std::vector<Use> uses;

  explicit UsedTensors(const std::vector<int64_t> &handles);
  UsedTensors() = default;
};

// Handles of copies of results, which belong to nobody else.
std::vector<int64_t> AddCopies(const std::vector<mindspore::MSTensor> &tensors);
}  // namespace mslite::java

#endif
