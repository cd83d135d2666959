#include "registry/session_kernels.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "registry/engines.h"
#include "registry/kernel_node.h"

namespace mslite {
namespace {
// The arch of REGISTER_KERNEL(GPU, ...).
constexpr char kGpu[] = "GPU";

class SessionKernels : public RegisteredKernels {
 public:
  SessionKernels(std::shared_ptr<const Graph> graph, std::shared_ptr<mindspore::Context> context,
                 const std::shared_ptr<const Delegation> &delegation)
      : graph_(std::move(graph)), context_(std::move(context)) {
    const std::vector<Provider> providers = ProvidersOf(context_.get());
    for (size_t i = 0; i < graph_->nodes.size(); ++i) {
      if (graph_->nodes[i].part >= 0) {
        nodes_[static_cast<int32_t>(i)].made = std::make_unique<KernelNode>(*graph_, graph_->nodes[i], delegation);
      }
      if (graph_->nodes[i].primitive == nullptr) continue;
      std::vector<RegisteredKernel> kernels = KernelsOf(KeyOf(*graph_->nodes[i].primitive), providers);
      if (!kernels.empty()) nodes_[static_cast<int32_t>(i)].kernels = WithDevice(std::move(kernels));
    }
  }

  bool IsEmpty() const { return nodes_.empty(); }
  bool Has(int32_t node) const override { return nodes_.count(node) != 0; }

  Status Find(int32_t node, const std::vector<const mslite_tensor *> &inputs, RegisteredNode **found,
              std::string *why) override {
    *found = nullptr;
    const auto place = nodes_.find(node);
    if (place == nodes_.end()) return mindspore::kSuccess;
    Candidates &candidates = place->second;
    if (candidates.kernels.empty() && candidates.made != nullptr) {
      *found = candidates.made.get();
      return mindspore::kSuccess;
    }
    const RegisteredKernel *chosen = Choose(candidates.kernels, inputs);
    if (chosen == nullptr && !no_device_.empty()) {
      *why = "kernels are registered for the arch GPU, which cannot run: " + no_device_;
      return mindspore::kSuccess;
    }
    if (chosen == nullptr) {
      *why = "no kernel is registered for its input types:";
      for (const mslite_tensor *input : inputs) *why += " " + TypeName(input->type);
      *why += "; registered:";
      for (const RegisteredKernel &kernel : candidates.kernels) {
        *why += " " + TypeName(static_cast<int32_t>(kernel.type)) + " of '" + kernel.provider + "'";
      }
      return mindspore::kSuccess;
    }
    if (candidates.made == nullptr || candidates.made->type() != chosen->type) {
      MSLITE_TRY(KernelNode::Create(*graph_, graph_->nodes[static_cast<size_t>(node)], context_.get(), *chosen,
                                    chosen->arch == kGpu ? device_ : nullptr, &candidates.made));
    }
    *found = candidates.made.get();
    return mindspore::kSuccess;
  }

 private:
  struct Candidates {
    std::vector<RegisteredKernel> kernels;  // empty for a delegate's kernel, which already exists
    std::unique_ptr<KernelNode> made;
  };

  // Returns the kernels for GPUs first, or without these if no GPU can run them.
  std::vector<RegisteredKernel> WithDevice(std::vector<RegisteredKernel> kernels) {
    const auto is_for_gpu = [](const RegisteredKernel &kernel) { return kernel.arch == kGpu; };
    if (std::none_of(kernels.begin(), kernels.end(), is_for_gpu)) return kernels;
    if (device_ == nullptr && no_device_.empty()) {
      const Status status = mslite_engines[0].kernel_device == nullptr
                                ? Fail(mindspore::kLiteNotSupport, "this runtime was cropped and has no OpenCL backend")
                                : mslite_engines[0].kernel_device(context_.get(), &device_);
      if (status.IsError()) no_device_ = status.GetErrDescription();
    }
    std::vector<RegisteredKernel> sorted;
    if (device_ != nullptr) std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(sorted), is_for_gpu);
    std::remove_copy_if(kernels.begin(), kernels.end(), std::back_inserter(sorted), is_for_gpu);
    return sorted;
  }

  // Selects a kernel for the type of the first input; if there is none, for the type that MindSpore Lite uses.
  static const RegisteredKernel *Choose(const std::vector<RegisteredKernel> &kernels,
                                        const std::vector<const mslite_tensor *> &inputs) {
    const auto find = [&](int32_t type) {
      const auto place = std::find_if(kernels.begin(), kernels.end(), [type](const RegisteredKernel &kernel) {
        return static_cast<int32_t>(kernel.type) == type;
      });
      return place == kernels.end() ? nullptr : &*place;
    };
    const RegisteredKernel *found = inputs.empty() ? nullptr : find(inputs[0]->type);
    return found != nullptr ? found : find(TypeOfCall(inputs));
  }

  // Returns the type of the first input that has one of these types, else float32.
  static int32_t TypeOfCall(const std::vector<const mslite_tensor *> &inputs) {
    for (const mslite_tensor *input : inputs) {
      switch (input->type) {
        case MSLITE_FLOAT32:
        case MSLITE_FLOAT16:
        case MSLITE_INT8:
        case MSLITE_INT32:
        case MSLITE_BOOL:
        case MSLITE_UINT8:
        case MSLITE_STRING:
          return input->type;
        default:
          break;
      }
    }
    return MSLITE_FLOAT32;
  }

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<mindspore::Context> context_;
  std::shared_ptr<KernelDevice> device_;  // for kernels of the arch GPU
  std::string no_device_;                 // why `device_` is null
  std::map<int32_t, Candidates> nodes_;
};
}  // namespace

std::unique_ptr<RegisteredKernels> KernelsOfSession(std::shared_ptr<const Graph> graph,
                                                    const std::shared_ptr<mindspore::Context> &context,
                                                    const std::shared_ptr<const Delegation> &delegation) {
  if (RegistrationCount() == 0 && delegation == nullptr) return nullptr;
  auto kernels = std::make_unique<SessionKernels>(std::move(graph), context, delegation);
  if (kernels->IsEmpty()) return nullptr;
  return kernels;
}
}  // namespace mslite
