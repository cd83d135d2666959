// What is registered in this process.
#ifndef MSLITE_REGISTRY_REGISTRY_H
#define MSLITE_REGISTRY_REGISTRY_H

#include <string>
#include <vector>

#include "include/registry/register_kernel_interface.h"

namespace mslite {
// The operator of a primitive: its number, and for a Custom one its type.
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

// A provider that a context names, with its device (which may be empty).
struct Provider {
  std::string name;
  std::string arch;
};

// Those that the devices of the context name, in their order.
std::vector<Provider> ProvidersOf(mindspore::Context *context);

// Every kernel of that operator, whatever the types, those of the providers first, in their order; for a Custom
// operator those of others follow.
std::vector<RegisteredKernel> KernelsOf(const OperatorKey &key, const std::vector<Provider> &providers);

// Whether anybody has registered a kernel of that operator.
bool HasKernels(const OperatorKey &key);

// How many kernels and rules are registered.
size_t RegistrationCount();
}  // namespace mslite

#endif
