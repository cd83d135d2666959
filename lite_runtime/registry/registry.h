// The registered kernels and shape inference functions of this process.
#ifndef MSLITE_REGISTRY_REGISTRY_H
#define MSLITE_REGISTRY_REGISTRY_H

#include <string>
#include <vector>

#include "include/registry/register_kernel_interface.h"

namespace mslite {
// An operator: its PrimitiveType, and the type of a Custom operator.
struct OperatorKey {
  int32_t op = 0;
  std::string custom_type;

  bool operator==(const OperatorKey &other) const { return op == other.op && custom_type == other.custom_type; }
};
OperatorKey KeyOf(const mindspore::schema::Primitive &primitive);

struct RegisteredKernel {
  OperatorKey key;
  std::string arch;
  std::string provider;
  mindspore::DataType type = mindspore::DataType::kTypeUnknown;
  mindspore::registry::CreateKernel creator;
};

// A provider of a context, with its device, which may be empty.
struct Provider {
  std::string name;
  std::string arch;
};

// Returns the providers of the context's devices, in order.
std::vector<Provider> ProvidersOf(mindspore::Context *context);

// Returns all kernels of an operator, for all data types: those of the providers in order, and for a Custom operator
// also those of other providers.
std::vector<RegisteredKernel> KernelsOf(const OperatorKey &key, const std::vector<Provider> &providers);

// Returns true if a kernel is registered for the operator.
bool HasKernels(const OperatorKey &key);

// Returns the number of registered kernels and shape inference functions.
size_t RegistrationCount();
}  // namespace mslite

#endif
