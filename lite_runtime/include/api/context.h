/// Context: the devices and threads that run a model.
#ifndef MINDSPORE_INCLUDE_API_CONTEXT_H
#define MINDSPORE_INCLUDE_API_CONTEXT_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "include/api/allocator.h"
#include "include/api/data_type.h"
#include "include/api/dual_abi_helper.h"
#include "include/api/types.h"
#include "include/api/visible.h"

namespace mindspore {
enum DeviceType {
  kCPU = 0,
  kGPU = 1,
  kKirinNPU = 2,
  kAscend = 3,
  kAscend910 = 4,
  kAscend310 = 5,
  kCustomDevice = 6,
  kAllDevice = 7,
  kInvalidDeviceType = 100
};

enum DelegateMode { kNoDelegate = 0, kCoreML = 1, kNNAPI = 2 };

class AbstractDelegate;
class Delegate;
class DeviceInfoContext;

/// The devices, threads and delegate that a model is built with. Copies of a Context share their state.
class MS_API Context {
 public:
  Context();
  ~Context() = default;
  Context(const Context &) = default;
  Context &operator=(const Context &) = default;

  /// Sets the number of threads of one operator (intra-op). 0: Model::Build chooses it. Model::Build fails for negative
  /// values.
  void SetThreadNum(int32_t thread_num);
  int32_t GetThreadNum() const;
  /// Sets how many operators may run at the same time (inter-op). 0 is the same as 1.
  void SetInterOpParallelNum(int32_t parallel_num);
  int32_t GetInterOpParallelNum() const;
  /// Sets how threads are bound to cores. 0: no binding, 1: big cores first, 2: middle cores first.
  void SetThreadAffinity(int mode);
  int GetThreadAffinityMode() const;
  /// Sets the cores that the threads of the thread pool may use. It takes precedence over the mode.
  void SetThreadAffinity(const std::vector<int> &core_list);
  std::vector<int32_t> GetThreadAffinityCoreList() const;
  /// Lets a device and the CPU compute branches of a model at the same time. Branches that the device supports run on
  /// the CPU if this reduces the latency. At least two threads are necessary.
  void SetEnableParallel(bool is_parallel);
  bool GetEnableParallel() const;
  void SetBuiltInDelegate(DelegateMode mode);
  DelegateMode GetBuiltInDelegate() const;
  void set_delegate(const std::shared_ptr<AbstractDelegate> &delegate);
  std::shared_ptr<AbstractDelegate> get_delegate() const;
  void SetDelegate(const std::shared_ptr<Delegate> &delegate);
  std::shared_ptr<Delegate> GetDelegate() const;
  /// Sets whether the CPU replaces a backend of this library that fails: the device, its driver or its memory is
  /// missing, or a call fails. If true (the default), a warning is logged and the CPU runs the nodes. If false, Build,
  /// Resize and Predict fail with the reason. Nodes that a backend does not support always run on the CPU;
  /// mslite::InspectPlacement lists them. mslite extension.
  void SetFallback(bool is_allowed);
  bool GetFallback() const;
  void SetMultiModalHW(bool float_mode);
  bool GetMultiModalHW() const;
  void SetGroupInfoFile(std::string file);
  std::string GetGroupInfoFile() const;
  /// Returns the list of devices, in the order of preference. Model::Build fails for an empty list.
  std::vector<std::shared_ptr<DeviceInfoContext>> &MutableDeviceInfo();

 private:
  friend class ContextLimits;
  struct Data;
  std::shared_ptr<Data> data_;
};

/// A device of a context: the base class.
class MS_API DeviceInfoContext : public std::enable_shared_from_this<DeviceInfoContext> {
 public:
  DeviceInfoContext();
  virtual ~DeviceInfoContext() = default;
  virtual enum DeviceType GetDeviceType() const = 0;

  /// Returns this device as a T, or nullptr if it has another type.
  template <class T>
  std::shared_ptr<T> Cast() {
    static_assert(std::is_base_of<DeviceInfoContext, T>::value, "T is not a device info");
    if (GetDeviceType() != T().GetDeviceType()) return nullptr;
    return std::static_pointer_cast<T>(shared_from_this());
  }

  std::string GetProvider() const;
  void SetProvider(const std::string &provider);
  std::string GetProviderDevice() const;
  void SetProviderDevice(const std::string &device);
  void SetAllocator(const std::shared_ptr<Allocator> &allocator);
  std::shared_ptr<Allocator> GetAllocator() const;

 protected:
  struct Data;
  std::shared_ptr<Data> data_;
};

class MS_API CPUDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return DeviceType::kCPU; }
  /// Sets whether the model may compute in float16. Only processors with float16 arithmetic do (64-bit Arm from v8.2);
  /// others compute in float32. Inputs and outputs of the model stay float32. Operators that could overflow stay in
  /// float32.
  void SetEnableFP16(bool is_fp16);
  bool GetEnableFP16() const;
};

// A context with one of the devices below needs a CPUDeviceInfo after it, which runs the nodes that the device does not
// support.

class MS_API KirinNPUDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return DeviceType::kKirinNPU; }
  void SetEnableFP16(bool is_fp16);
  bool GetEnableFP16() const;
  void SetFrequency(int frequency);
  int GetFrequency() const;
};

class MS_API GPUDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return DeviceType::kGPU; }
  void SetDeviceID(uint32_t device_id);
  uint32_t GetDeviceID() const;
  int GetRankID() const { return 0; }
  int GetGroupSize() const { return 1; }
  void SetPrecisionMode(const std::string &mode);
  std::string GetPrecisionMode() const;
  void SetEnableFP16(bool is_fp16);
  bool GetEnableFP16() const;
  void SetEnableGLTexture(bool is_enabled);
  bool GetEnableGLTexture() const;
  void SetGLContext(void *context);
  void *GetGLContext() const;
  void SetGLDisplay(void *display);
  void *GetGLDisplay() const;
};

class MS_API AscendDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return DeviceType::kAscend; }
  void SetDeviceID(uint32_t device_id);
  uint32_t GetDeviceID() const;
  void SetRankID(uint32_t rank_id);
  uint32_t GetRankID() const;
  void SetInsertOpConfigPath(const std::string &path);
  std::string GetInsertOpConfigPath() const;
  void SetInputFormat(const std::string &format);
  std::string GetInputFormat() const;
  void SetInputShape(const std::string &shape);
  std::string GetInputShape() const;
  void SetInputShapeMap(const std::map<int, std::vector<int>> &shape);
  std::map<int, std::vector<int>> GetInputShapeMap() const;
  /// Sets the batch sizes. The getter returns them as text, separated by commas.
  void SetDynamicBatchSize(const std::vector<size_t> &batch_sizes);
  std::string GetDynamicBatchSize() const;
  void SetDynamicImageSize(const std::string &image_size);
  std::string GetDynamicImageSize() const;
  void SetOutputType(enum DataType type);
  enum DataType GetOutputType() const;
  void SetPrecisionMode(const std::string &mode);
  std::string GetPrecisionMode() const;
  void SetOpSelectImplMode(const std::string &mode);
  std::string GetOpSelectImplMode() const;
  void SetFusionSwitchConfigPath(const std::string &path);
  std::string GetFusionSwitchConfigPath() const;
  void SetBufferOptimizeMode(const std::string &mode);
  std::string GetBufferOptimizeMode() const;
};
using Ascend310DeviceInfo = AscendDeviceInfo;
using Ascend910DeviceInfo = AscendDeviceInfo;

class MS_API AutoDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return DeviceType::kAllDevice; }
};
}  // namespace mindspore

#endif
