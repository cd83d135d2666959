/// Registration of shape inference for operators.
#ifndef MINDSPORE_INCLUDE_REGISTRY_REGISTER_KERNEL_INTERFACE_H
#define MINDSPORE_INCLUDE_REGISTRY_REGISTER_KERNEL_INTERFACE_H

#include <functional>
#include <memory>
#include <string>

#include "include/kernel_interface.h"
#include "include/registry/register_kernel.h"

namespace mindspore::registry {
using KernelInterfaceCreator = std::function<std::shared_ptr<kernel::KernelInterface>()>;

/// The registry of shape inference functions.
class MS_API RegisterKernelInterface {
 public:
  /// Registers the shape inference of Custom nodes of type `op_type`. Errors: kLiteParamInvalid for an empty provider,
  /// type or creator.
  static Status CustomReg(const std::string &provider, const std::string &op_type,
                          const KernelInterfaceCreator creator);
  /// Registers the shape inference of an operator. `op_type` is a schema::PrimitiveType. It is used for nodes that run
  /// on a kernel of the same provider.
  static Status Reg(const std::string &provider, int op_type, const KernelInterfaceCreator creator);
  /// Returns the shape inference of a primitive, or of the primitive of `kernel`; nullptr if none is registered. For
  /// Custom nodes, it searches all providers if `provider` has none.
  static std::shared_ptr<kernel::KernelInterface> GetKernelInterface(const std::string &provider,
                                                                     const schema::Primitive *primitive,
                                                                     const kernel::Kernel *kernel = nullptr);
};

/// An object that registers shape inference in its constructor. Errors are logged.
class MS_API KernelInterfaceReg {
 public:
  KernelInterfaceReg(const std::string &provider, int op_type, const KernelInterfaceCreator creator);
  KernelInterfaceReg(const std::string &provider, const std::string &op_type, const KernelInterfaceCreator creator);
};
}  // namespace mindspore::registry

/// Registers the shape inference of an operator. `provider` is written without quotes.
#define REGISTER_KERNEL_INTERFACE(provider, op_type, creator) \
  MSLITE_REGISTER(KernelInterfaceReg, #provider, op_type, creator)

/// Registers the shape inference of Custom nodes of type `op_type`. `provider` and `op_type` are written without
/// quotes.
#define REGISTER_CUSTOM_KERNEL_INTERFACE(provider, op_type, creator) \
  MSLITE_REGISTER(KernelInterfaceReg, #provider, #op_type, creator)

#endif
