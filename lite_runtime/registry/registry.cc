#include "registry/registry.h"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "api/log.h"
#include "model/message.h"
#include "schema/ops_generated.h"
#include "threads/process_mutex.h"

namespace mslite {
namespace {
using mindspore::DataType;
using mindspore::registry::CreateKernel;
using mindspore::registry::KernelInterfaceCreator;

struct RegisteredRule {
  OperatorKey key;
  std::string provider;
  KernelInterfaceCreator creator;
};

// Filled when shared libraries are loaded, and never destroyed, because kernels may exist until the process ends.
struct Registry {
  std::vector<RegisteredKernel> kernels;
  std::vector<RegisteredRule> rules;
};

Registry &TheRegistry() {
  static auto *registry = new Registry;
  return *registry;
}

constexpr int32_t kCustom = mindspore::schema::PrimitiveType_Custom;

Status Invalid(const std::string &reason) {
  return Fail(mindspore::kLiteParamInvalid, "the kernel cannot be registered: " + reason);
}

// Checks the common arguments of kernels and shape inference.
template <typename Creator>
Status Check(const OperatorKey &key, const std::string &provider, const Creator &creator) {
  if (provider.empty()) return Invalid("the name of its provider is empty");
  if (!creator) return Invalid("provider '" + provider + "' passed an empty creator function");
  if (key.op == kCustom && key.custom_type.empty()) {
    return Invalid("provider '" + provider + "' passed an empty type of Custom operators");
  }
  if (key.op <= mindspore::schema::PrimitiveType_NONE || key.op > mindspore::schema::PrimitiveType_MAX) {
    return Invalid("provider '" + provider + "' passed operator " + std::to_string(key.op) + ", which does not exist");
  }
  return mindspore::kSuccess;
}

// Adds an entry, or replaces an entry with the same key.
template <typename Entry, typename Same>
void Put(std::vector<Entry> *entries, const Entry &entry, Same same) {
  const auto place = std::find_if(entries->begin(), entries->end(), same);
  if (place == entries->end()) {
    entries->push_back(entry);
  } else {
    *place = entry;
  }
}

Status AddKernel(int32_t op, const std::string &custom_type, const std::string &arch, const std::string &provider,
                 DataType type, const CreateKernel &creator) {
  RegisteredKernel kernel;
  kernel.key.op = op;
  kernel.key.custom_type = custom_type;
  kernel.arch = arch;
  kernel.provider = provider;
  kernel.type = type;
  kernel.creator = creator;
  MSLITE_TRY(Check(kernel.key, kernel.provider, kernel.creator));
  if (kernel.type != DataType::kObjectTypeString &&
      (kernel.type <= DataType::kNumberTypeBegin || kernel.type >= DataType::kNumberTypeEnd)) {
    return Invalid("provider '" + kernel.provider + "' passed data type " +
                   std::to_string(static_cast<int>(kernel.type)) + ", which does not exist");
  }
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kRegistry));
  Registry &registry = TheRegistry();
  const auto key = std::tie(kernel.provider, kernel.arch, kernel.type);
  const auto same = [&](const RegisteredKernel &one) {
    return one.key == kernel.key && std::tie(one.provider, one.arch, one.type) == key;
  };
  Put(&registry.kernels, kernel, same);
  return mindspore::kSuccess;
}

Status AddRule(int32_t op, const std::string &custom_type, const std::string &provider,
               const KernelInterfaceCreator &creator) {
  RegisteredRule rule;
  rule.key.op = op;
  rule.key.custom_type = custom_type;
  rule.provider = provider;
  rule.creator = creator;
  MSLITE_TRY(Check(rule.key, rule.provider, rule.creator));
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kRegistry));
  Registry &registry = TheRegistry();
  Put(&registry.rules, rule,
      [&](const RegisteredRule &one) { return one.key == rule.key && one.provider == rule.provider; });
  return mindspore::kSuccess;
}
}  // namespace

OperatorKey KeyOf(const mindspore::schema::Primitive &primitive) {
  OperatorKey key = {static_cast<int32_t>(primitive.value_type()), ""};
  const auto *custom = primitive.value_as_Custom();
  if (custom != nullptr && custom->type() != nullptr) key.custom_type = custom->type()->str();
  return key;
}

std::vector<Provider> ProvidersOf(mindspore::Context *context) {
  std::vector<Provider> providers;
  for (const auto &device : context->MutableDeviceInfo()) {
    if (device == nullptr || device->GetProvider().empty()) continue;
    providers.push_back({device->GetProvider(), device->GetProviderDevice()});
  }
  return providers;
}

std::vector<RegisteredKernel> KernelsOf(const OperatorKey &key, const std::vector<Provider> &providers) {
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kRegistry));
  Registry &registry = TheRegistry();
  std::vector<RegisteredKernel> found;
  const auto add = [&](const Provider *provider) {
    for (const RegisteredKernel &kernel : registry.kernels) {
      if (!(kernel.key == key)) continue;
      if (provider != nullptr && kernel.provider != provider->name) continue;
      if (provider != nullptr && !provider->arch.empty() && kernel.arch != provider->arch) continue;
      found.push_back(kernel);
    }
  };
  for (const Provider &provider : providers) add(&provider);
  if (key.op == kCustom) add(nullptr);
  return found;
}

bool HasKernels(const OperatorKey &key) {
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kRegistry));
  Registry &registry = TheRegistry();
  return std::any_of(registry.kernels.begin(), registry.kernels.end(),
                     [&key](const RegisteredKernel &kernel) { return kernel.key == key; });
}

size_t RegistrationCount() {
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kRegistry));
  Registry &registry = TheRegistry();
  return registry.kernels.size() + registry.rules.size();
}
}  // namespace mslite

namespace mindspore::registry {
using mslite::Guard;
using mslite::Logged;

bool KernelDesc::operator<(const KernelDesc &other) const {
  return std::tie(data_type, type, arch, provider) < std::tie(other.data_type, other.type, other.arch, other.provider);
}

Status RegisterKernel::RegKernel(const std::string &arch, const std::string &provider, DataType data_type, int op_type,
                                 const CreateKernel creator) {
  return Guard([&] { return mslite::AddKernel(op_type, "", arch, provider, data_type, creator); });
}

Status RegisterKernel::RegCustomKernel(const std::string &arch, const std::string &provider, DataType data_type,
                                       const std::string &type, const CreateKernel creator) {
  return Guard([&] { return mslite::AddKernel(mslite::kCustom, type, arch, provider, data_type, creator); });
}

CreateKernel RegisterKernel::GetCreator(const schema::Primitive *primitive, KernelDesc *desc) {
  return mslite::CallOrDefault([&]() -> CreateKernel {
    if (desc == nullptr) return {};
    mslite::OperatorKey key;
    key.op = desc->type;
    if (primitive != nullptr) key = mslite::KeyOf(*primitive);
    for (const mslite::RegisteredKernel &kernel : mslite::KernelsOf(key, {{desc->provider, desc->arch}})) {
      if (kernel.type != desc->data_type) continue;
      desc->arch = kernel.arch;
      desc->provider = kernel.provider;
      return kernel.creator;
    }
    return {};
  });
}

KernelReg::KernelReg(const std::string &arch, const std::string &provider, DataType data_type, int op_type,
                     const CreateKernel creator) {
  Logged(RegisterKernel::RegKernel(arch, provider, data_type, op_type, creator));
}

KernelReg::KernelReg(const std::string &arch, const std::string &provider, DataType data_type, const std::string &type,
                     const CreateKernel creator) {
  Logged(RegisterKernel::RegCustomKernel(arch, provider, data_type, type, creator));
}

Status RegisterKernelInterface::CustomReg(const std::string &provider, const std::string &op_type,
                                          const KernelInterfaceCreator creator) {
  return Guard([&] { return mslite::AddRule(mslite::kCustom, op_type, provider, creator); });
}

Status RegisterKernelInterface::Reg(const std::string &provider, int op_type, const KernelInterfaceCreator creator) {
  return Guard([&] { return mslite::AddRule(op_type, "", provider, creator); });
}

std::shared_ptr<kernel::KernelInterface> RegisterKernelInterface::GetKernelInterface(const std::string &provider,
                                                                                     const schema::Primitive *primitive,
                                                                                     const kernel::Kernel *kernel) {
  if (primitive == nullptr && kernel != nullptr) primitive = kernel->primitive();
  if (primitive == nullptr) return nullptr;
  const mslite::OperatorKey key = mslite::KeyOf(*primitive);
  KernelInterfaceCreator creator;
  {
    const std::lock_guard<std::mutex> lock(mslite::ProcessMutex(mslite::LockId::kRegistry));
    mslite::Registry &registry = mslite::TheRegistry();
    for (const mslite::RegisteredRule &rule : registry.rules) {
      if (!(rule.key == key)) continue;
      if (rule.provider == provider) {
        creator = rule.creator;
        break;
      }
      if (key.op == mslite::kCustom && !creator) creator = rule.creator;
    }
  }
  return creator ? creator() : nullptr;
}

KernelInterfaceReg::KernelInterfaceReg(const std::string &provider, int op_type, const KernelInterfaceCreator creator) {
  Logged(RegisterKernelInterface::Reg(provider, op_type, creator));
}

KernelInterfaceReg::KernelInterfaceReg(const std::string &provider, const std::string &op_type,
                                       const KernelInterfaceCreator creator) {
  Logged(RegisterKernelInterface::CustomReg(provider, op_type, creator));
}
}  // namespace mindspore::registry

namespace mindspore::kernel {
Kernel::Kernel() : type_(schema::PrimitiveType_NONE), quant_type_(schema::QuantType_QUANT_NONE) {}

Kernel::Kernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const schema::Primitive *primitive,
               const Context *context)
    : IKernel(std::move(inputs), std::move(outputs), primitive, context),
      type_(primitive == nullptr ? schema::PrimitiveType_NONE : primitive->value_type()),
      quant_type_(schema::QuantType_QUANT_NONE) {
  const auto *custom = primitive == nullptr ? nullptr : primitive->value_as_Custom();
  if (custom == nullptr) return;
  if (custom->type() != nullptr) attrs_["type"] = custom->type()->str();
  if (custom->attr() == nullptr) return;
  for (const schema::Attribute *attribute : *custom->attr()) {
    if (attribute->name() == nullptr || attribute->data() == nullptr) continue;
    attrs_[attribute->name()->str()].assign(attribute->data()->begin(), attribute->data()->end());
  }
}

int Kernel::InferShape() {
  std::shared_ptr<KernelInterface> rule;
  if (type_ == schema::PrimitiveType_Custom) {
    rule = registry::RegisterKernelInterface::GetKernelInterface("", primitive_, this);
  } else if (context_ != nullptr) {
    for (const auto &device : Context(*context_).MutableDeviceInfo()) {
      if (rule == nullptr) {
        rule = registry::RegisterKernelInterface::GetKernelInterface(device->GetProvider(), primitive_, this);
      }
    }
  }
  if (rule == nullptr) return static_cast<int>(kLiteNotSupport);
  return static_cast<int>(rule->Infer(&inputs_, &outputs_, primitive_, this).StatusCode());
}
}  // namespace mindspore::kernel
