#include "registry/delegation.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "api/log.h"
#include "api/tensor.h"
#include "include/mslite/delegate.h"
#include "registry/application_call.h"
#include "registry/engines.h"
#include "registry/registry.h"

namespace mslite {
namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;

// Returns true for nodes that a delegate cannot replace: calls of subgraphs, and nodes that read or write variables.
bool BelongsToLibrary(const Node &node) {
  if (node.part >= 0) return true;  // a partition of another delegate
  switch (node.op) {
    case MSLITE_OP_Switch:
    case MSLITE_OP_SwitchLayer:
    case MSLITE_OP_PartialFusion:
    case MSLITE_OP_Call:
    case MSLITE_OP_ReadVariable:
    case MSLITE_OP_AssignVariable:
      return true;
    default:
      return false;
  }
}

Status Refused(const std::string &reason) { return Fail(mindspore::kLiteParamInvalid, "the delegate " + reason); }
}  // namespace

// A kernel that represents a node of the file for a delegate. The library runs nodes that the delegate does not
// replace.
class Delegation::Offered : public Kernel, public Offer {
 public:
  Offered(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const Node &node,
          const mindspore::Context *context, std::string provider)
      : Kernel(std::move(inputs), std::move(outputs), node.primitive, context), provider_(std::move(provider)) {
    set_name(node.name);
    quant_type_ = static_cast<mindspore::schema::QuantType>(node.quant_type);
  }
  int Prepare() override { return static_cast<int>(mindspore::kLiteNotSupport); }
  int Execute() override { return static_cast<int>(mindspore::kLiteNotSupport); }
  int ReSize() override { return static_cast<int>(mindspore::kLiteNotSupport); }
  const std::string &provider() const override { return provider_; }

 private:
  std::string provider_;
};

// Finds the nodes that each kernel of the delegate replaces.
struct Delegation::Taking {
  Taking(const Round &round, const Graph &graph_of_file) : graph(graph_of_file) {
    for (size_t i = 0; i < round.tensors.size(); ++i) {
      const MSTensor &tensor = round.tensors[i];
      if (tensor == nullptr) continue;
      by_tensor[tensor.impl().get()] = static_cast<int32_t>(i);
      by_name.emplace(tensor.Name(), static_cast<int32_t>(i));
    }
    const std::vector<int32_t> &nodes = graph.subgraphs[0].nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      numbers[round.offered[i].get()] = nodes[i];
      const std::vector<int32_t> &outputs = graph.nodes[static_cast<size_t>(nodes[i])].outputs;
      produced.insert(outputs.begin(), outputs.end());
    }
  }

  // Finds the tensor of the graph. It is matched by name if the delegate has created a new object.
  Status Find(const std::string &kernel, const MSTensor &tensor, int32_t *index) const {
    if (tensor == nullptr) return Refused("gave kernel '" + kernel + "' a null tensor");
    if (const auto place = by_tensor.find(tensor.impl().get()); place != by_tensor.end()) {
      *index = place->second;
      return mindspore::kSuccess;
    }
    const auto place = by_name.find(tensor.Name());
    if (place == by_name.end()) {
      return Refused("gave kernel '" + kernel + "' tensor '" + tensor.Name() + "', which the model does not have");
    }
    *index = place->second;
    return mindspore::kSuccess;
  }

  // Returns the replaced nodes between the inputs and the outputs of a kernel, in order of execution.
  Status Cover(const std::string &kernel, const Node &call, std::vector<Node> *covered) const {
    const std::set<int32_t> inputs(call.inputs.begin(), call.inputs.end());
    std::set<int32_t> found;
    std::vector<int32_t> open = call.outputs;
    while (!open.empty()) {
      const int32_t tensor = open.back();
      open.pop_back();
      const Tensor &source = graph.tensors[static_cast<size_t>(tensor)];
      if (inputs.count(tensor) != 0 || source.is_constant) continue;
      const auto place = removed_producer.find(tensor);
      if (place == removed_producer.end()) {
        return Refused("created kernel '" + kernel + "', whose outputs need tensor '" + source.name +
                       "', which is not an input of the kernel");
      }
      if (!found.insert(place->second).second) continue;
      const Node &node = graph.nodes[static_cast<size_t>(place->second)];
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    for (const int32_t node : graph.subgraphs[0].nodes) {
      if (found.count(node) != 0) covered->push_back(graph.nodes[static_cast<size_t>(node)]);
    }
    return mindspore::kSuccess;
  }

  const Graph &graph;
  std::map<const MSTensor::Impl *, int32_t> by_tensor;
  std::map<std::string, int32_t> by_name;
  std::map<const Kernel *, int32_t> numbers;    // offered kernel -> index of its node
  std::set<int32_t> produced;                   // tensors that nodes of the file produce
  std::map<int32_t, int32_t> removed_producer;  // tensor -> replaced node that produces it
};

std::shared_ptr<mindspore::AbstractDelegate> DelegateOf(const mindspore::Context &context) {
  if (auto delegate = context.get_delegate(); delegate != nullptr) return delegate;
  return context.GetDelegate();
}

Status FallBack(const mindspore::Context &context, const std::string &reason) {
  if (!context.GetFallback()) {
    return Fail(mindspore::kLiteNotSupport, reason + "; fallback to the CPU is disabled (Context::SetFallback)");
  }
  Log(LogLevel::kWarning, reason + "; falling back to the CPU");
  return mindspore::kSuccess;
}

bool RoundsHalfToEven(const MSTensor &tensor) { return tensor != nullptr && tensor.impl()->rounds_half_to_even; }

// Returns the backends of the context, if the library has any.
std::vector<std::shared_ptr<mindspore::Delegate>> FindEngines(mindspore::Context *context,
                                                              std::vector<std::string> *missing) {
  if (mslite_engines[0].of_context != nullptr) return mslite_engines[0].of_context(context, missing);
  const auto &devices = context->MutableDeviceInfo();
  const bool is_plain = std::all_of(devices.begin(), devices.end(), [](const auto &device) {
    return device == nullptr || device->GetDeviceType() == mindspore::kCPU;
  });
  if (!is_plain || context->GetBuiltInDelegate() != mindspore::kNoDelegate) {
    missing->push_back(
        "this runtime was cropped and only supports the CPU (mslite-crop --engines keeps other backends)");
  }
  return {};
}

bool HasDelegates(mindspore::Context *context) {
  std::vector<std::string> missing;
  return DelegateOf(*context) != nullptr || !FindEngines(context, &missing).empty();
}

Status ReportMissingBackends(mindspore::Context *context) {
  std::vector<std::string> missing;
  FindEngines(context, &missing);
  for (const std::string &reason : missing) MSLITE_TRY(FallBack(*context, reason));
  return mindspore::kSuccess;
}

Status CheckBuiltInDelegate(const mindspore::Context &context) {
  if (context.GetBuiltInDelegate() == mindspore::kNoDelegate) return mindspore::kSuccess;
  mindspore::Context alone;  // a context without other devices
  alone.SetBuiltInDelegate(context.GetBuiltInDelegate());
  std::vector<std::string> missing;
  FindEngines(&alone, &missing);
  if (missing.empty()) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotSupport, missing[0] + "; use Context::set_delegate for a delegate of the application");
}

std::string Delegation::EngineFailure() const {
  for (const PlacementReporter *placing : placings_) {
    if (std::string failure = placing->failure(); !failure.empty()) return failure;
  }
  return "";
}

bool Delegation::may_run_in_parallel() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part &part) { return part.lane >= 0; });
}

Status Delegation::Ask(const std::shared_ptr<mindspore::Context> &context, const Graph &graph, Round *round,
                       std::vector<Kernel *> *kernels) {
  const SubGraph &main = graph.subgraphs[0];
  round->tensors.assign(graph.tensors.size(), MSTensor(nullptr));
  const auto tensor_of = [&](int32_t index) {
    MSTensor &tensor = round->tensors[static_cast<size_t>(index)];
    if (tensor != nullptr) return tensor;
    const Tensor &source = graph.tensors[static_cast<size_t>(index)];
    tensor = mindspore::TensorFor(source);
    if (!source.has_rank && source.dims.empty() && !source.is_constant) tensor.SetShape({-1});
    if (source.is_constant) {
      tensor.impl()->Show(source.data, source.size);
      tensor.impl()->is_const = true;
    }
    return tensor;
  };
  const auto tensors_of = [&](const std::vector<int32_t> &indices) {
    std::vector<MSTensor> tensors;
    tensors.reserve(indices.size());
    for (const int32_t index : indices) tensors.push_back(tensor_of(index));
    return tensors;
  };
  const std::vector<Provider> providers = ProvidersOf(context.get());
  const auto provider_of = [&](const Node &node) -> std::string {
    if (node.primitive == nullptr) return "";
    const std::vector<RegisteredKernel> registered = KernelsOf(KeyOf(*node.primitive), providers);
    return registered.empty() ? "" : registered.front().provider;
  };
  std::map<Kernel *, const mindspore::schema::Primitive *> primitives;
  for (const int32_t index : main.nodes) {
    const Node &node = graph.nodes[static_cast<size_t>(index)];
    auto offered = std::make_unique<Offered>(tensors_of(node.inputs), tensors_of(node.outputs), node, context.get(),
                                             provider_of(node));
    kernels->push_back(offered.get());
    if (node.primitive != nullptr) primitives[offered.get()] = node.primitive;
    round->offered.push_back(std::move(offered));
  }
  mindspore::LiteDelegateGraph model(kernels, tensors_of(main.inputs), tensors_of(main.outputs), primitives,
                                     mindspore::SCHEMA_CUR);
  const Status status = CallApplicationCode(round->is_ours ? nullptr : "the delegate's Build",
                                            [&] { return round->delegate->Build(&model); });
  // Kernels of the delegate are deleted with the round, also after an error.
  std::set<Kernel *> known;
  for (const auto &kernel : round->offered) known.insert(kernel.get());
  for (Kernel *kernel : *kernels) {
    if (kernel != nullptr && known.insert(kernel).second) round->made.emplace_back(kernel);
  }
  return status;
}

Status Delegation::Take(Round *round, const std::vector<Kernel *> &kernels, Graph *graph) {
  Taking taking(*round, *graph);
  const std::set<const Kernel *> left(kernels.begin(), kernels.end());
  if (left.size() != kernels.size()) return Refused("added a kernel to the list twice");
  if (left.count(nullptr) != 0) return Refused("added a null pointer to the list of kernels");
  std::set<int32_t> ready;
  std::set<int32_t> given;  // tensors that the delegate's kernels produce
  for (const auto &[kernel, index] : taking.numbers) {
    if (left.count(kernel) != 0) continue;
    const Node &node = graph->nodes[static_cast<size_t>(index)];
    if (BelongsToLibrary(node)) return Refused("removed " + Describe(node) + ", which delegates cannot replace");
    for (const int32_t output : node.outputs) taking.removed_producer[output] = index;
  }
  std::vector<int32_t> order;
  for (Kernel *kernel : kernels) {
    const auto place = taking.numbers.find(kernel);
    int32_t index = 0;
    if (place != taking.numbers.end()) {
      index = place->second;
    } else {
      const std::string name = kernel->name().empty() ? "delegate" : kernel->name();
      Node call;
      call.name = name;
      call.op = MSLITE_OP_Custom;
      call.custom_type = "Delegate";
      call.part = static_cast<int32_t>(parts_.size());
      for (const MSTensor &tensor : kernel->inputs()) {
        MSLITE_TRY(taking.Find(name, tensor, &call.inputs.emplace_back()));
      }
      for (const MSTensor &tensor : kernel->outputs()) {
        MSLITE_TRY(taking.Find(name, tensor, &call.outputs.emplace_back()));
      }
      if (call.outputs.empty()) return Refused("created kernel '" + name + "' without outputs");
      for (const int32_t output : call.outputs) {
        if (taking.removed_producer.count(output) != 0 && given.insert(output).second) continue;
        return Refused("created kernel '" + name + "' with output '" +
                       graph->tensors[static_cast<size_t>(output)].name +
                       "', which no replaced kernel produces, or which another kernel of the delegate produces too");
      }
      Part part;
      MSLITE_TRY(taking.Cover(name, call, &part.nodes));
      const auto mine =
          std::find_if(round->made.begin(), round->made.end(), [&](const auto &one) { return one.get() == kernel; });
      part.kernel = std::move(*mine);
      if (const auto *of_engine = dynamic_cast<const EnginePart *>(kernel); of_engine != nullptr) {
        // Each partition has its own tensor objects, because partitions may run at the same time.
        const auto own = [&](const std::vector<int32_t> &indices) {
          std::vector<MSTensor> tensors;
          tensors.reserve(indices.size());
          for (const int32_t tensor : indices) {
            tensors.push_back(mindspore::TensorFor(graph->tensors[static_cast<size_t>(tensor)]));
          }
          return tensors;
        };
        kernel->set_inputs(own(call.inputs));
        kernel->set_outputs(own(call.outputs));
        if (of_engine->may_run_in_parallel()) part.lane = static_cast<int32_t>(rounds_.size()) - 1;
      }
      parts_.push_back(std::move(part));
      index = static_cast<int32_t>(graph->nodes.size());
      graph->nodes.push_back(std::move(call));
    }
    const Node &node = graph->nodes[static_cast<size_t>(index)];
    for (const int32_t input : node.inputs) {
      if (taking.produced.count(input) == 0 || ready.count(input) != 0) continue;
      return Refused("left no kernel before " + Describe(node) + " that produces its input '" +
                     graph->tensors[static_cast<size_t>(input)].name + "'");
    }
    ready.insert(node.outputs.begin(), node.outputs.end());
    order.push_back(index);
  }
  for (const int32_t output : graph->subgraphs[0].outputs) {
    if (taking.produced.count(output) == 0 || ready.count(output) != 0) continue;
    return Refused("left no kernel that produces model output '" + graph->tensors[static_cast<size_t>(output)].name +
                   "'");
  }
  graph->subgraphs[0].nodes = std::move(order);
  return mindspore::kSuccess;
}

Status Delegation::OfferTo(const std::shared_ptr<mindspore::Delegate> &delegate, bool is_ours,
                           const std::shared_ptr<mindspore::Context> &context, Graph *graph, bool *is_missing) {
  rounds_.push_back(std::make_unique<Round>());
  Round *round = rounds_.back().get();
  round->delegate = delegate;
  round->is_ours = is_ours;
  MSLITE_TRY(CallApplicationCode(is_ours ? nullptr : "the delegate's Init", [&]() -> Status {
    const Status status = delegate->Init();
    *is_missing = status == mindspore::kLiteNotSupport;
    return status;
  }));
  std::vector<Kernel *> kernels;
  MSLITE_TRY(Ask(context, *graph, round, &kernels));
  return Take(round, kernels, graph);
}

Status Delegation::Offer(const std::shared_ptr<mindspore::Context> &context, bool with_engines, Graph *graph,
                         std::shared_ptr<Delegation> *result) {
  auto made = std::make_shared<Delegation>();
  *result = made;
  if (const auto delegate = DelegateOf(*context); delegate != nullptr) {
    const auto ours = std::dynamic_pointer_cast<mindspore::Delegate>(delegate);
    if (ours == nullptr) {
      return Fail(mindspore::kLiteNotSupport,
                  "the context's delegate is not a mindspore::Delegate; other types of delegates are not supported");
    }
    bool is_missing = false;
    const Status status = made->OfferTo(ours, false, context, graph, &is_missing);
    if (!is_missing) MSLITE_TRY(status);
    made->was_open_ = std::any_of(graph->tensors.begin(), graph->tensors.end(), [](const Tensor &tensor) {
      return std::any_of(tensor.dims.begin(), tensor.dims.end(), [](int64_t dim) { return dim < 0; });
    });
  }
  if (!with_engines) return mindspore::kSuccess;
  for (const auto &engine : FindEngines(context.get(), &made->missing_)) {
    bool is_missing = false;
    const size_t parts = made->parts_.size();
    const size_t nodes = graph->nodes.size();
    const Status status = made->OfferTo(engine, true, context, graph, &is_missing);
    if (status.IsOk()) {
      made->placings_.push_back(dynamic_cast<const PlacementReporter *>(engine.get()));
      continue;
    }
    made->parts_.resize(parts);
    graph->nodes.resize(nodes);
    made->missing_.push_back(status.GetErrDescription());
  }
  for (const std::string &reason : made->missing_) MSLITE_TRY(FallBack(*context, reason));
  return mindspore::kSuccess;
}
}  // namespace mslite

namespace mindspore {
Status CoreMLDelegate::Init() {
  Context context;
  context.SetBuiltInDelegate(kCoreML);
  std::vector<std::string> missing;
  const auto engines = mslite::FindEngines(&context, &missing);
  if (engines.empty()) return mslite::Fail(kLiteNotSupport, missing.empty() ? "Core ML is not available" : missing[0]);
  impl_ = engines[0];
  return impl_->Init();
}

Status CoreMLDelegate::Build(LiteDelegateGraph *model) {
  return impl_ == nullptr ? mslite::Fail(kLiteError, "Core ML is not available, or Init was not called")
                          : impl_->Build(model);
}
}  // namespace mindspore
