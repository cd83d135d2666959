/// Registration of shape rules, by provider and operator.
#ifndef MINDSPORE_INCLUDE_REGISTRY_REGISTER_KERNEL_INTERFACE_H
#define MINDSPORE_INCLUDE_REGISTRY_REGISTER_KERNEL_INTERFACE_H

#include <functional>
#include <memory>
#include <string>

#include "include/kernel_interface.h"
#include "include/registry/register_kernel.h"

namespace mindspore::registry {
using KernelInterfaceCreator = std::function<std::shared_ptr<kernel::KernelInterface>()>;

class MS_API RegisterKernelInterface {
 public:
  /// The rule of Custom nodes of type `op_type`. Errors: kLiteParamInvalid for an empty provider, type or creator.
  static Status CustomReg(const std::string &provider, const std::string &op_type,
                          const KernelInterfaceCreator creator);
  /// The rule of an operator; `op_type` is a schema::PrimitiveType. It holds where a kernel of that provider runs it.
  static Status Reg(const std::string &provider, int op_type, const KernelInterfaceCreator creator);
  /// The rule for a primitive, or for that of `kernel`; nullptr where none is registered. A Custom type is looked up
  /// under every provider where `provider` has no rule for it.
  static std::shared_ptr<kernel::KernelInterface> GetKernelInterface(const std::string &provider,
                                                                     const schema::Primitive *primitive,
                                                                     const kernel::Kernel *kernel = nullptr);
};

/// Registers where it is defined; what goes wrong is logged.
class MS_API KernelInterfaceReg {
 public:
  KernelInterfaceReg(const std::string &provider, int op_type, const KernelInterfaceCreator creator);
  KernelInterfaceReg(const std::string &provider, const std::string &op_type, const KernelInterfaceCreator creator);
};
}  // namespace mindspore::registry

/// `provider` is written without quotes.
#define REGISTER_KERNEL_INTERFACE(provider, op_type, creator) \
  MSLITE_REGISTER(KernelInterfaceReg, #provider, op_type, creator)

/// `op_type`, the type of Custom nodes, is written without quotes, too.
#define REGISTER_CUSTOM_KERNEL_INTERFACE(provider, op_type, creator) \
  MSLITE_REGISTER(KernelInterfaceReg, #provider, #op_type, creator)

#endif
