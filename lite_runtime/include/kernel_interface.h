/// The shape rule of an operator that an application provides.
#ifndef MINDSPORE_INCLUDE_KERNEL_INTERFACE_H
#define MINDSPORE_INCLUDE_KERNEL_INTERFACE_H

#include <vector>

#include "include/api/kernel.h"
#include "include/api/types.h"

namespace mindspore::kernel {
class MS_API KernelInterface {
 public:
  virtual ~KernelInterface() = default;

  /// Sets type, format and shape of each output. Types and shapes of the inputs are known, the data of constants is
  /// there. kLiteInferInvalid: only the data of the other inputs tells; then it is called again when that is there.
  virtual Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs,
                       const schema::Primitive *primitive) {
    static_cast<void>(inputs);
    static_cast<void>(outputs);
    static_cast<void>(primitive);
    return kSuccess;
  }
  /// As above with the kernel of the node. This one is called; the rule above is what it calls.
  virtual Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs,
                       const schema::Primitive *primitive, const Kernel *kernel) {
    static_cast<void>(kernel);
    return Infer(inputs, outputs, primitive);
  }
};
}  // namespace mindspore::kernel

#endif
