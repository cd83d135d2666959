// The objects behind the handles of the C API, and common functions for models.
#ifndef MSLITE_API_C_HANDLES_H
#define MSLITE_API_C_HANDLES_H

#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "api/log.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/c_api/model_c.h"

namespace mslite {
struct CContext {
  std::shared_ptr<mindspore::Context> context = std::make_shared<mindspore::Context>();
  std::vector<int32_t> cores;
};

struct CDevice {
  std::shared_ptr<mindspore::DeviceInfoContext> info;
  std::string provider;
  std::string provider_device;
};

// A tensor, with the strings that its getters return.
struct CTensor {
  explicit CTensor(const mindspore::MSTensor &value) : tensor(value), name(value.Name()) {}
  mindspore::MSTensor tensor;
  std::string name;
};

// Tensors with one handle for each index. A handle stays valid when the tensor at its index is replaced.
class TensorHandles {
 public:
  TensorHandles() = default;
  explicit TensorHandles(const std::vector<mindspore::MSTensor> &tensors) { Show(tensors); }
  // Replaces the tensors. On failure, the old ones stay.
  void Show(const std::vector<mindspore::MSTensor> &tensors) {
    Prepare(tensors);
    CommitPrepared();
  }
  // Allocates all memory that is needed to replace the tensors by these. The old ones stay until CommitPrepared.
  void Prepare(const std::vector<mindspore::MSTensor> &tensors);
  // Replaces the tensors by the prepared ones, if there are any.
  void CommitPrepared() noexcept;
  MSTensorHandleArray array() { return {handles_.size(), handles_.data()}; }
  // Returns the handle of the tensor with this name, or null.
  MSTensorHandle Find(const char *name);

 private:
  std::deque<CTensor> holders_;
  std::vector<void *> handles_;
  std::vector<CTensor> prepared_;
  std::vector<void *> prepared_handles_;
  bool is_prepared_ = false;
};

struct CModel {
  // Waiting requests write their results to the handles, so the model must be destroyed first.
  ~CModel() { model = mindspore::Model(); }

  mindspore::Model model;
  std::shared_ptr<mindspore::Context> context;  // owned by the model since Build
  bool is_for_training = false;
  TensorHandles inputs;
  TensorHandles outputs;
  TensorHandles weights;  // of the last call of MSModelGetWeights
};

inline CModel *ToModel(MSModelHandle handle) { return static_cast<CModel *>(handle); }
inline MSStatus CodeOf(const mindspore::Status &status) { return static_cast<MSStatus>(status.StatusCode()); }
// Logs the message of an error and returns the code: the C API has no messages.
MSStatus Reported(const mindspore::Status &status);
mindspore::Status NullArgument(const char *what) noexcept;

// Calls a function and returns its code, or the code of its exception: the C API does not throw.
template <typename Function>
MSStatus CatchToStatus(Function call) noexcept {
  MSStatus code = kMSStatusSuccess;
  const mindspore::Status status = Guard([&]() -> mindspore::Status {
    code = call();
    return mindspore::kSuccess;
  });
  return status.IsOk() ? code : Reported(status);
}

// Builds a model with `build`. On success, the model owns the context. On failure, neither changes.
MSStatus BuildModel(
    const char *caller, MSModelHandle handle, MSModelType type, MSContextHandle context,
    const std::function<mindspore::Status(mindspore::Model *, const std::shared_ptr<mindspore::Context> &)> &build);

// Larger counts of array elements are rejected as invalid.
constexpr size_t kMaxItems = size_t{1} << 20;

// Appends the tensors of the handles. Returns false if a handle is null, or if there are too many.
bool Unwrap(const MSTensorHandleArray &array, std::vector<mindspore::MSTensor> *tensors);
mindspore::MSKernelCallBack Wrap(MSKernelCallBackC function);
}  // namespace mslite

#endif
