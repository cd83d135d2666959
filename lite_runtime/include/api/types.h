/// MSTensor, Buffer, Key and other types of the API.
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

/// Quantization parameters: real = scale * (stored - zero_point).
struct QuantParam {
  int bit_num;
  double scale;
  int32_t zero_point;
  double min;
  double max;
};

class Allocator;

/// A tensor. Copies share their state: name, shape, type and data.
class MS_API MSTensor {
 public:
  class Impl;

  /// Creates a tensor with a copy of `data`. Returns nullptr for invalid arguments. The caller destroys the tensor with
  /// DestroyTensorPtr.
  static MSTensor *CreateTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape,
                                const void *data, size_t data_len, const std::string &device = "",
                                int device_id = -1) noexcept;
  static MSTensor *CreateTensor(const std::string &name, const MSTensor &tensor, const std::string &device = "",
                                int device_id = -1) noexcept;
  /// Creates a tensor that refers to `data` without a copy. With `own_data`, the tensor frees the data.
  static MSTensor *CreateRefTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape,
                                   const void *data, size_t data_len, bool own_data = true) noexcept;
  static MSTensor CreateDeviceTensor(const std::string &name, DataType type, const std::vector<int64_t> &shape,
                                     void *data, size_t data_len) noexcept;
  /// Creates a tensor with the bytes of a file. Without `shape`, it has one dimension.
  static MSTensor *CreateTensorFromFile(const std::string &file, DataType type = DataType::kNumberTypeUInt8,
                                        const std::vector<int64_t> &shape = {}) noexcept;
  /// Creates a tensor with strings, which are stored as the number of strings, their offsets (int32) and their bytes.
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
  /// Returns the number of elements, or -1 if a dimension is unknown.
  int64_t ElementNum() const;
  std::shared_ptr<const void> Data() const;
  /// Returns the writable data, which is allocated if the tensor has none. Returns nullptr if the size is unknown or
  /// memory is exhausted.
  void *MutableData();
  size_t DataSize() const;
  std::string GetDevice() const;
  int GetDeviceId() const;
  bool IsConst() const;
  bool IsDevice() const;
  /// Returns a deep copy, which the caller destroys with DestroyTensorPtr. Returns nullptr if the size is unknown.
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
  /// Makes the tensor refer to `data`. With `own_data`, the tensor frees the data.
  void SetData(void *data, bool own_data = true);
  void SetDeviceData(void *data);
  void *GetDeviceData();
  std::vector<QuantParam> QuantParams() const;
  void SetQuantParams(std::vector<QuantParam> quant_params);
  const std::shared_ptr<Impl> impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// A block of bytes. Copies of a Buffer share the block; Clone copies it.
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

/// The key of an encrypted model: 16, 24 or 32 bytes. The destructor clears them. For a longer key or a null pointer,
/// `len` is 0.
struct MS_API Key {
  const size_t max_key_len = 32;
  size_t len = 0;
  unsigned char key[32] = {0};
  Key() : len(0) {}
  explicit Key(const char *dec_key, size_t key_len);
  Key(const Key &) = default;
  ~Key();
};

/// The node for which a callback is called.
struct MSCallBackParam {
  std::string node_name;
  std::string node_type;
  double execute_time = 0.0;  ///< in milliseconds; set only in the call after the node
};

/// A callback that is called before or after a node. If it returns false, a warning is logged and the run continues.
using MSKernelCallBack = std::function<bool(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                            const MSCallBackParam &info)>;

/// Returns the version in the form "MindSpore Lite x.y.z", as MindSpore Lite does.
MS_API std::string Version();
MS_API std::vector<char> CharVersion();
}  // namespace mindspore

#endif
