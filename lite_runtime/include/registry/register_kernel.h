/// Registration of kernels for Custom operators, and for operators that this library also supports.
///
/// A Custom node runs on the kernel that is registered for its type and the data type of its first input. Kernels of a
/// provider of the Context are preferred to those of other providers. Other nodes run on a registered kernel only if a
/// device of the Context names its provider (`SetProvider`, and `SetProviderDevice` for an `arch`). Kernels must be
/// registered before Model::Build. A later registration with the same key replaces an earlier one.
#ifndef MINDSPORE_INCLUDE_REGISTRY_REGISTER_KERNEL_H
#define MINDSPORE_INCLUDE_REGISTRY_REGISTER_KERNEL_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/data_type.h"
#include "include/api/kernel.h"
#include "include/api/types.h"
#if __has_include("flatbuffers/flatbuffers.h") && __has_include("schema/model_generated.h")
#include "schema/model_generated.h"
#endif

namespace mindspore::registry {
/// The key of a registered kernel.
struct MS_API KernelDesc {
  DataType data_type;
  int type;
  std::string arch;
  std::string provider;

  bool operator<(const KernelDesc &other) const;
};

/// Creates the kernel of a node. It is called once for each node of each model. If it returns nullptr, Model::Build
/// fails.
using CreateKernel = std::function<std::shared_ptr<kernel::Kernel>(
    const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs, const schema::Primitive *primitive,
    const Context *context)>;

/// The registry of kernels.
class MS_API RegisterKernel {
 public:
  /// Registers a kernel for an operator. `op_type` is a schema::PrimitiveType, `data_type` the type of the first input.
  /// Errors: kLiteParamInvalid for an empty provider or creator, or an invalid type.
  static Status RegKernel(const std::string &arch, const std::string &provider, DataType data_type, int op_type,
                          const CreateKernel creator);
  /// Registers a kernel for Custom nodes of type `type`.
  static Status RegCustomKernel(const std::string &arch, const std::string &provider, DataType data_type,
                                const std::string &type, const CreateKernel creator);
  /// Returns the creator of the kernel that is registered for the primitive and `desc`, or an empty function. Sets
  /// `desc` to the key of the kernel.
  static CreateKernel GetCreator(const schema::Primitive *primitive, KernelDesc *desc);
};

/// An object that registers a kernel in its constructor. Errors are logged.
class MS_API KernelReg {
 public:
  KernelReg(const std::string &arch, const std::string &provider, DataType data_type, int op_type,
            const CreateKernel creator);
  KernelReg(const std::string &arch, const std::string &provider, DataType data_type, const std::string &type,
            const CreateKernel creator);
};
}  // namespace mindspore::registry

#define MSLITE_JOIN_(a, b) a##b
#define MSLITE_JOIN(a, b) MSLITE_JOIN_(a, b)

// clang 22 and later warn that __COUNTER__ is an extension of a future standard. All supported compilers have it.
#if defined(__clang__) && __clang_major__ >= 22
#define MSLITE_COUNTER_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc2y-extensions\"")
#define MSLITE_COUNTER_END _Pragma("clang diagnostic pop")
#else
#define MSLITE_COUNTER_BEGIN
#define MSLITE_COUNTER_END
#endif
#define MSLITE_REGISTER(type, ...)                                               \
  namespace {                                                                    \
  MSLITE_COUNTER_BEGIN                                                           \
  const mindspore::registry::type MSLITE_JOIN(g_reg_, __COUNTER__)(__VA_ARGS__); \
  MSLITE_COUNTER_END                                                             \
  }

/// Registers a kernel for an operator. `arch` and `provider` are written without quotes.
#define REGISTER_KERNEL(arch, provider, data_type, op_type, creator) \
  MSLITE_REGISTER(KernelReg, #arch, #provider, data_type, op_type, creator)

/// Registers a kernel for Custom nodes of type `op_type`. `arch`, `provider` and `op_type` are written without quotes.
#define REGISTER_CUSTOM_KERNEL(arch, provider, data_type, op_type, creator) \
  MSLITE_REGISTER(KernelReg, #arch, #provider, data_type, #op_type, creator)

#endif
