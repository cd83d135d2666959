/// Tensors and buffers of the public API.
#ifndef MINDSPORE_INCLUDE_API_TYPES_H
#define MINDSPORE_INCLUDE_API_TYPES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "include/api/data_type.h"
#include "include/api/dual_abi_helper.h"
#include "include/api/format.h"
#include "include/api/status.h"
#include "include/api/visible.h"

namespace mindspore {
enum ModelType : uint32_t {
  kMindIR = 0,
  kAIR = 1,
  kOM = 2,
  kONNX = 3,
  kMindIR_Lite = 4,
  kFlatBuffer = kMindIR_Lite,
  kMindIR_Opt = kMindIR_Lite,
  kDataFlow = 5,
  kUnknownType = 0xFFFFFFFF
};

enum QuantizationType : uint32_t { kNoQuant = 0, kWeightQuant = 1, kFullQuant = 2, kUnknownQuantType = 0xFFFFFFFF };

enum class ModelGroupFlag : int { kUnknown = 0, kShareWeight = 1, kShareWorkspace = 2, kShareWeightAndWorkspace = 3 };

enum OptimizationLevel : uint32_t { kO0 = 0, kO2 = 2, kO3 = 3, kAuto = 4, kOptimizationType = 0xFFFFFFFF };

/// One linear quantization record: real = scale * (stored - zero_point).
struct QuantParam {
  int bit_num;
  double scale;
  int32_t zero_point;
  double min;
  double max;
};

class Allocator;

/// A tensor. Copies share their state: shape, type and data of one are those of the others.
class MS_API MSTensor {
 public:
  class Impl;

  /// A tensor that owns a copy of `data`; nullptr for invalid arguments. The caller destroys it with DestroyTensorPtr.
  static MSTensor *CreateTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape,
                                const void *data, size_t data_len, const std::string &device = "",
                                int device_id = -1) noexcept;
  static MSTensor *CreateTensor(const std::string &name, const MSTensor &tensor, const std::string &device = "",
                                int device_id = -1) noexcept;
  /// A tensor over `data`, which is not copied; with `own_data` it is freed with the tensor.
  static MSTensor *CreateRefTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape,
                                   const void *data, size_t data_len, bool own_data = true) noexcept;
  static MSTensor CreateDeviceTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape,
                                     void *data, size_t data_len) noexcept;
  /// The bytes of a file as a tensor; without `shape` one dimension.
  static MSTensor *CreateTensorFromFile(const std::string &file, DataType type = DataType::kNumberTypeUInt8,
                                        const std::vector<int64_t> &shape = {}) noexcept;
  /// Packs strings as int32 count, offsets, bytes.
  static MSTensor *StringsToTensor(const std::string &name, const std::vector<std::string> &strings);
  static std::vector<std::string> TensorToStrings(const MSTensor &tensor);
  static void DestroyTensorPtr(MSTensor *tensor) noexcept;

  MSTensor();
  explicit MSTensor(const std::shared_ptr<Impl> &impl);
  MSTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape, const void *data,
           size_t data_len);
  explicit MSTensor(std::nullptr_t);
  ~MSTensor();

  std::string Name() const;
  enum DataType DataType() const;
  const std::vector<int64_t> &Shape() const;
  /// Number of elements; -1 while a dimension is unknown.
  int64_t ElementNum() const;
  std::shared_ptr<const void> Data() const;
  /// Writable contents; allocates when the tensor has none. nullptr when the size is unknown or memory is short.
  void *MutableData();
  size_t DataSize() const;
  std::string GetDevice() const;
  int GetDeviceId() const;
  bool IsConst() const;
  bool IsDevice() const;
  /// A deep copy, owned by the caller; nullptr when the size is unknown.
  MSTensor *Clone() const;

  bool operator==(std::nullptr_t) const;
  bool operator!=(std::nullptr_t) const;
  bool operator==(const MSTensor &tensor) const;
  bool operator!=(const MSTensor &tensor) const;

  void SetShape(const std::vector<int64_t> &shape);
  void SetDataType(enum DataType type);
  void SetTensorName(const std::string &name);
  void SetAllocator(std::shared_ptr<Allocator> allocator);
  std::shared_ptr<Allocator> allocator() const;
  void SetFormat(mindspore::Format format);
  mindspore::Format format() const;
  /// Points the tensor at `data`; with `own_data` the tensor frees it.
  void SetData(void *data, bool own_data = true);
  void SetDeviceData(void *data);
  void *GetDeviceData();
  std::vector<QuantParam> QuantParams() const;
  void SetQuantParams(std::vector<QuantParam> quant_params);
  const std::shared_ptr<Impl> impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// A block of bytes; copies share it, Clone copies it.
class MS_API Buffer {
 public:
  Buffer();
  Buffer(const void *data, size_t data_len);
  ~Buffer();

  const void *Data() const;
  void *MutableData();
  size_t DataSize() const;
  bool ResizeData(size_t data_len);
  bool SetData(const void *data, size_t data_len);
  Buffer Clone() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

constexpr char kDecModeAesGcm[] = "AES-GCM";

/// The key of an encrypted model: 16, 24 or 32 bytes, which are wiped from memory with it. One that is longer, or null,
/// is no key: `len` is 0.
struct MS_API Key {
  const size_t max_key_len = 32;
  size_t len = 0;
  unsigned char key[32] = {0};
  Key() : len(0) {}
  explicit Key(const char *dec_key, size_t key_len);
  Key(const Key &) = default;
  ~Key();
};

/// What a callback learns of the node that is about to run, or has run.
struct MSCallBackParam {
  std::string node_name;
  std::string node_type;
  double execute_time = 0.0;  ///< milliseconds; filled for the call after the node
};

/// Called around a node. Returning false is logged as a warning; the run goes on.
using MSKernelCallBack = std::function<bool(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                            const MSCallBackParam &info)>;

/// "MindSpore Lite x.y.z", the form that version checks of callers expect.
MS_API std::string Version();
MS_API std::vector<char> CharVersion();
}  // namespace mindspore

#endif
