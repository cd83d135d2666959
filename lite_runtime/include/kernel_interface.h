/// Shape inference of an application's operators.
#ifndef MINDSPORE_INCLUDE_KERNEL_INTERFACE_H
#define MINDSPORE_INCLUDE_KERNEL_INTERFACE_H

#include <vector>

#include "include/api/kernel.h"
#include "include/api/types.h"

namespace mindspore::kernel {
/// The shape inference of one operator.
class MS_API KernelInterface {
 public:
  virtual ~KernelInterface() = default;

  /// Sets the type, format and shape of each output. The types and shapes of the inputs and the data of constants are
  /// set. If a shape depends on the data of other inputs, it returns kLiteInferInvalid and is called again when these
  /// data are available.
  virtual Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs,
                       const schema::Primitive *primitive) {
    static_cast<void>(inputs);
    static_cast<void>(outputs);
    static_cast<void>(primitive);
    return kSuccess;
  }
  /// The same, with the kernel of the node. The runtime calls this function. Its default calls the function above.
  virtual Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs,
                       const schema::Primitive *primitive, const Kernel *kernel) {
    static_cast<void>(kernel);
    return Infer(inputs, outputs, primitive);
  }
};
}  // namespace mindspore::kernel

#endif
