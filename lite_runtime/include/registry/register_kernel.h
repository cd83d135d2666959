/// Registration of kernels: Custom operators of any type, and operators that this library has, by provider.
///
/// A Custom node is run by the kernel that is registered for its type and the type of its first input: that of a
/// provider of the Context if there is one, else that of any provider. Other nodes are run by a registered kernel only
/// where a device of the Context names its provider (`SetProvider`, and `SetProviderDevice` for an `arch`).
/// Registration comes before Model::Build; the latest one of a key holds.
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
/// What a kernel is registered for.
struct MS_API KernelDesc {
  DataType data_type;
  int type;
  std::string arch;
  std::string provider;

  bool operator<(const KernelDesc &other) const;
};

/// Makes the kernel of a node, called once for each node of each model. nullptr fails the build.
using CreateKernel = std::function<std::shared_ptr<kernel::Kernel>(
    const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs, const schema::Primitive *primitive,
    const Context *context)>;

class MS_API RegisterKernel {
 public:
  /// `op_type` is a schema::PrimitiveType, `data_type` the type of the first input.
  /// Errors: kLiteParamInvalid for an empty provider or creator, or a type that there is not.
  static Status RegKernel(const std::string &arch, const std::string &provider, DataType data_type, int op_type,
                          const CreateKernel creator);
  /// The same for Custom nodes of type `type`.
  static Status RegCustomKernel(const std::string &arch, const std::string &provider, DataType data_type,
                                const std::string &type, const CreateKernel creator);
  /// What is registered for the primitive and `desc`, or an empty function; fills in `desc` which one it is.
  static CreateKernel GetCreator(const schema::Primitive *primitive, KernelDesc *desc);
};

/// Registers where it is defined; what goes wrong is logged.
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

// clang 22 and later call __COUNTER__, which every compiler knows, an extension of a coming standard.
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

/// `arch` and `provider` are written without quotes.
#define REGISTER_KERNEL(arch, provider, data_type, op_type, creator) \
  MSLITE_REGISTER(KernelReg, #arch, #provider, data_type, op_type, creator)

/// `op_type`, the type of Custom nodes, is written without quotes, too.
#define REGISTER_CUSTOM_KERNEL(arch, provider, data_type, op_type, creator) \
  MSLITE_REGISTER(KernelReg, #arch, #provider, data_type, #op_type, creator)

#endif
