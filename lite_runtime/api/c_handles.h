// What the handles of the C API point at, and what the functions of models share.
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

// A tensor, with the texts and arrays that the getters give out.
struct CTensor {
  explicit CTensor(const mindspore::MSTensor &value) : tensor(value), name(value.Name()) {}
  mindspore::MSTensor tensor;
  std::string name;
};

// Tensors that are shown as handles: one for each place, which stays where others come into the places.
class CTensors {
 public:
  CTensors() = default;
  explicit CTensors(const std::vector<mindspore::MSTensor> &tensors) { Show(tensors); }
  // On failure what was shown stays.
  void Show(const std::vector<mindspore::MSTensor> &tensors) {
    Prepare(tensors);
    ShowPrepared();
  }
  // Takes all memory that showing them needs; what is shown stays until they are.
  void Prepare(const std::vector<mindspore::MSTensor> &tensors);
  // Shows what was prepared last, if it has not been shown yet.
  void ShowPrepared() noexcept;
  MSTensorHandleArray array() { return {handles_.size(), handles_.data()}; }
  // Null where there is none of that name.
  MSTensorHandle Find(const char *name);

 private:
  std::deque<CTensor> holders_;
  std::vector<void *> handles_;
  std::vector<CTensor> prepared_;
  std::vector<void *> prepared_handles_;
  bool is_prepared_ = false;
};

struct CModel {
  // Requests that still wait show their results in the handles: they end before those go.
  ~CModel() { model = mindspore::Model(); }

  mindspore::Model model;
  std::shared_ptr<mindspore::Context> context;  // keeps the context that Build took over
  bool is_for_training = false;
  CTensors inputs;
  CTensors outputs;
  CTensors weights;  // as they were asked for last
};

inline CModel *ToModel(MSModelHandle handle) { return static_cast<CModel *>(handle); }
inline MSStatus CodeOf(const mindspore::Status &status) { return static_cast<MSStatus>(status.StatusCode()); }
// Callers in C get the number alone: the reason is logged.
MSStatus Reported(const mindspore::Status &status);
mindspore::Status NullArgument(const char *what) noexcept;

// The code of a call; where that throws, of what it throws: nothing leaves the C API as an exception.
template <typename Function>
MSStatus Contain(Function call) noexcept {
  MSStatus code = kMSStatusSuccess;
  const mindspore::Status status = Guard([&]() -> mindspore::Status {
    code = call();
    return mindspore::kSuccess;
  });
  return status.IsOk() ? code : Reported(status);
}

// Builds a model of a file by `build`; on success the context is the model's, on failure neither has changed.
MSStatus BuildModel(
    const char *caller, MSModelHandle handle, MSModelType type, MSContextHandle context,
    const std::function<mindspore::Status(mindspore::Model *, const std::shared_ptr<mindspore::Context> &)> &build);

// More than any array of a caller has: counts are read before they are used.
constexpr size_t kMostItems = size_t{1} << 20;

// False where one of the handles is null, or where there are too many.
bool Unwrap(const MSTensorHandleArray &array, std::vector<mindspore::MSTensor> *tensors);
mindspore::MSKernelCallBack Wrap(MSKernelCallBackC function);
}  // namespace mslite

#endif
