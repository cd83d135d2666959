/// Delegates, which run partitions of a model on another backend. Context::set_delegate sets the delegate of a model
/// before Model::Build. mslite/delegate.h has functions for writing a delegate.
#ifndef MINDSPORE_INCLUDE_API_DELEGATE_H
#define MINDSPORE_INCLUDE_API_DELEGATE_H

#include <map>
#include <memory>
#include <vector>

#include "include/api/delegate_api.h"
#include "include/api/kernel.h"
#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore {
enum SchemaVersion {
  SCHEMA_INVALID = -1,
  SCHEMA_CUR = 0,
  SCHEMA_V0 = 1,
};

using KernelIter = std::vector<kernel::Kernel *>::iterator;

/// The kernels of a model in the order in which they run. T is the type of their operators.
template <class T>
class DelegateModel {
 public:
  DelegateModel() = default;
  DelegateModel(std::vector<kernel::Kernel *> *kernels, const std::vector<MSTensor> &inputs,
                const std::vector<MSTensor> &outputs, const std::map<kernel::Kernel *, const T *> &primitives,
                SchemaVersion version)
      : kernels_(kernels), inputs_(inputs), outputs_(outputs), primitives_(primitives), version_(version) {}
  ~DelegateModel() = default;

  /// Returns the operator of a kernel, or nullptr for a kernel that is not in this model.
  const T *GetPrimitive(kernel::Kernel *kernel) const {
    const auto place = primitives_.find(kernel);
    return place == primitives_.end() ? nullptr : place->second;
  }
  KernelIter BeginKernelIterator() { return kernels_->begin(); }
  KernelIter EndKernelIterator() { return kernels_->end(); }
  /// Replaces the kernels [from, end) by `graph_kernel`. Returns the iterator after `graph_kernel`.
  KernelIter Replace(KernelIter from, KernelIter end, kernel::Kernel *graph_kernel) {
    return kernels_->insert(kernels_->erase(from, end), graph_kernel) + 1;
  }
  std::vector<kernel::Kernel *> *nodes() { return kernels_; }
  const std::vector<MSTensor> &inputs() { return inputs_; }
  const std::vector<MSTensor> &outputs() { return outputs_; }
  SchemaVersion GetVersion() const { return version_; }

 protected:
  std::vector<kernel::Kernel *> *kernels_ = nullptr;
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  std::map<kernel::Kernel *, const T *> primitives_;
  SchemaVersion version_ = SCHEMA_INVALID;
};
using LiteDelegateGraph = DelegateModel<schema::Primitive>;

/// The base class of delegates.
class Delegate : public IDelegate<LiteDelegateGraph, kernel::Kernel, kernel::Kernel> {
 public:
  Delegate() = default;
  Delegate(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs) : IDelegate(inputs, outputs) {}

  /// Initializes the backend. If it returns kLiteNotSupport, the CPU runs the model; Model::Build fails for any other
  /// error.
  virtual Status Init() = 0;
  /// Replaces the kernels of each partition by one kernel (DelegateModel::Replace).
  virtual Status Build(LiteDelegateGraph *model) = 0;

  std::shared_ptr<kernel::Kernel> CreateKernel(const std::shared_ptr<kernel::Kernel> &) override { return nullptr; }
  bool IsDelegateNode(const std::shared_ptr<kernel::Kernel> &) override { return false; }
  void ReplaceNodes(const std::shared_ptr<LiteDelegateGraph> &) override {}
};

/// The Core ML backend, the same as Context::SetBuiltInDelegate(kCoreML).
class MS_API CoreMLDelegate : public Delegate {
 public:
  /// Returns kLiteNotSupport if the library was built without Core ML, or the system does not have it.
  Status Init() override;
  Status Build(LiteDelegateGraph *model) override;

 protected:
  std::shared_ptr<Delegate> impl_;
};
}  // namespace mindspore

#endif
