// mslite._codegen: the native module of the code generator. It plans models for other machines, and prepares, packs and
// runs the kernels of these machines on the host.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/session_options.h"
#include "api/trainer.h"
#include "codegen/codegen_plan.h"
#include "codegen/needed_kernels.h"
#include "codegen/read_model.h"
#include "codegen/replaceable_weights.h"
#include "model/bytes.h"
#include "model/load.h"
#include "single_call.h"

namespace mslite::python {
namespace {

using codegen::ByteString;
using codegen::CodegenCall;
using codegen::CodegenGraph;
using codegen::CodegenPlan;
using codegen::CodegenStep;
using codegen::CodegenTensor;
using codegen::CodegenVariable;
using codegen::Int8CallParameters;
using codegen::UnsupportedNode;
using codegen::VariableAccess;

/// Python's ModelError: a model that cannot be read or planned.
struct ModelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void CheckModel(const Status &status) {
  if (status.IsError()) throw ModelError(status.GetErrDescription());
}

KernelList TargetKernels() {
#ifdef MSLITE_TARGET_KERNELS
  return mslite_target_kernels;
#else
  return {};
#endif
}

KernelList TargetTrainingKernels() {
#ifdef MSLITE_TARGET_KERNELS
  return mslite_target_training_kernels;
#else
  return {};
#endif
}

/// Searches the kernels of the targets first, then those of the libraries.
const mslite_kernel *KernelNamed(const std::string &name) {
  return FindKernel({TargetKernels(), TargetTrainingKernels(), OwnKernels(), TrainingKernels()}, name);
}

IsaSet IsasNamed(const std::vector<std::string> &names) {
  IsaSet isas;
  for (const std::string &name : names) {
    const int32_t isa = FindIsa(name);
    if (isa < 0) throw nb::value_error(("unknown instruction set '" + name + "'").c_str());
    isas.Add(isa);
  }
  return isas;
}

std::vector<KernelEntry> Kernels() {
  std::vector<KernelEntry> list;
  for (const KernelList &kernels : {TargetKernels(), TargetTrainingKernels()}) {
    for (int32_t i = 0; i < kernels.count; ++i) list.push_back(EntryOf(*kernels.kernels[i]));
  }
  return list;
}

int32_t DerivedSize(const std::string &name) { return KernelNamed(name)->derived_size; }

/// Prepares a single call. Returns an execution step in which inputs and outputs are numbered in their order.
CodegenStep Prepare(nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<bool> &constant,
                    const std::vector<TensorInfo> &outputs, int32_t quant_type, const std::vector<std::string> &isas) {
  SingleCall call(primitive, inputs, constant, outputs, quant_type);
  SingleNode &node = call.node();
  Check(node.Prepare(IsasNamed(isas), nullptr, {TargetKernels(), TargetTrainingKernels()}));
  const mslite_kernel &kernel = *node.kernel();
  CodegenStep step;
  step.op = std::get<1>(EntryOf(kernel));
  step.kernel = kernel.name;
  step.derived.assign(static_cast<const char *>(node.derived()), static_cast<size_t>(kernel.derived_size));
  step.parts.assign(node.schedule().part_count, node.schedule().part_count + node.schedule().phase_count);
  step.shared_bytes = node.schedule().shared_bytes;
  step.scratch_bytes = node.schedule().scratch_bytes;
  step.in_place = kernel.in_place == nullptr ? -1 : kernel.in_place(&node.node());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    step.inputs.push_back(index);
    step.leads.push_back(kernel.lead == nullptr ? -1 : kernel.lead(&node.node(), node.derived(), index));
    if (node.packed(i).size() != 0) {
      step.packed.emplace_back(index,
                               ByteString(static_cast<const char *>(node.packed(i).data()), node.packed(i).size()));
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) step.outputs.push_back(static_cast<int32_t>(i));
  return step;
}

bool KernelSupports(const std::string &name, nb::handle primitive, const std::vector<TensorInfo> &inputs,
                    const std::vector<bool> &constant, const std::vector<TensorInfo> &outputs, int32_t quant_type) {
  SingleCall call(primitive, inputs, constant, outputs, quant_type);
  return Supports(KernelNamed(name), &call);
}

std::vector<nb::object> RunNamed(const std::string &name, nb::handle primitive, const std::vector<TensorInfo> &inputs,
                                 const std::vector<bool> &constant, const std::vector<TensorInfo> &outputs,
                                 int32_t quant_type, uint32_t shuffle_seed, bool in_place) {
  SingleCall call(primitive, inputs, constant, outputs, quant_type);
  return RunKernel(KernelNamed(name), &call, {1, shuffle_seed, in_place});
}

/// A loaded model.
class Model {
 public:
  explicit Model(const std::filesystem::path &path) { CheckModel(codegen::ReadModel(path.string(), &model_)); }

  std::vector<CodegenTensor> inputs() const { return codegen::ModelInputs(*model_); }

  CodegenPlan Plan(const std::vector<std::string> &isas, const std::vector<std::vector<int64_t>> &shapes) const {
    const std::vector<CodegenTensor> own = inputs();
    if (shapes.size() != own.size()) throw nb::value_error("the number of shapes is not the number of inputs");
    for (const std::vector<int64_t> &shape : shapes) {
      const bool is_known =
          std::all_of(shape.begin(), shape.end(), [](int64_t size) { return size >= 0 && size <= kMaximumDimension; });
      if (shape.size() > MSLITE_MAX_RANK || !is_known) throw nb::value_error("invalid input shape");
    }
    CodegenPlan plan;
    CheckModel(codegen::WritePlan(model_, IsasNamed(isas), TargetKernels(), TargetTrainingKernels(), shapes, &plan));
    return plan;
  }

 private:
  std::shared_ptr<SharedModel> model_;
};

/// Returns step `step` reduced to some of its rows; None if its kernel does not support the shape.
std::optional<CodegenStep> Cut(const CodegenPlan &plan, size_t step, int64_t pad_before, int64_t rows_in,
                               int64_t pad_after, int64_t rows_out) {
  if (step >= plan.steps.size()) throw nb::index_error("step index out of range");
  CodegenStep cut;
  if (!codegen::CutRows(plan, step, {pad_before, rows_in, pad_after, rows_out}, &cut)) return std::nullopt;
  return cut;
}

/// Returns step `step` reduced to some of its output channels, with their packed weights; None if its kernel does not
/// support the shape.
std::optional<CodegenStep> CutOut(const CodegenPlan &plan, size_t step, int64_t first, int64_t count) {
  if (step >= plan.steps.size()) throw nb::index_error("step index out of range");
  CodegenStep cut;
  if (!codegen::CutChannels(plan, step, first, count, &cut)) return std::nullopt;
  return cut;
}

Int8CallParameters Numbers(const CodegenPlan &plan, size_t step) {
  if (step >= plan.steps.size()) throw nb::index_error("step index out of range");
  return codegen::Int8CallParametersOfStep(plan, step);
}

/// Returns (variable, tensor) of each use.
std::vector<std::pair<int32_t, int32_t>> Pairs(const std::vector<VariableAccess> &uses) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (const VariableAccess &use : uses) pairs.emplace_back(use.variable, use.tensor);
  return pairs;
}

/// Returns the size of the arena of a training step in bytes, planned for a machine with these instruction sets and
/// `threads` threads.
int64_t StepArena(const std::filesystem::path &path, const std::vector<std::string> &isas, int32_t threads) {
  const auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  context->SetThreadNum(threads);
  TrainerSettings settings;
  CheckModel(Bytes::Map(path.string(), &settings.file));
  CheckModel(ReadContext(context, nullptr, &settings.options));
  settings.options.threads = threads;  // may exceed the cores of this machine
  settings.options.isas = IsasNamed(isas);
  settings.options.more_kernels = {TargetKernels(), TargetTrainingKernels()};
  settings.options.only_plans = true;
  std::unique_ptr<Trainer> trainer;
  CheckModel(CreateTrainer(settings, &trainer));
  CheckModel(trainer->SetTrainMode(true));
  int64_t bytes = 0;
  for (const Plan *plan : trainer->session()->LatestPlans()) bytes = std::max(bytes, plan->arena_bytes);
  return bytes;
}

nb::bytes ToPython(const ByteString &bytes) { return nb::bytes(bytes.data(), bytes.size()); }

/// (value of PrimitiveType, name, sum of MSLITE_KIND_..., kernels that do not support float32) of an operator of a
/// file.
using NeedEntry = std::tuple<int32_t, std::string, int32_t, std::vector<std::string>>;
std::pair<std::vector<NeedEntry>, std::vector<std::string>> Needs(const std::filesystem::path &path) {
  codegen::ModelNeeds needs;
  CheckModel(codegen::NeedsOf(path.string(), &needs));
  std::vector<NeedEntry> list;
  for (const auto &[op, need] : needs.operators) {
    list.emplace_back(op, OperatorName(op), need.kinds,
                      std::vector<std::string>(need.refusing.begin(), need.refusing.end()));
  }
  return {std::move(list), std::move(needs.parts)};
}

/// Returns the names of the weights in their order in net<i>.bin, and their signature.
std::pair<std::vector<std::string>, uint32_t> ReplaceableWeightsOf(const std::filesystem::path &path,
                                                                   const std::vector<std::string> &wanted) {
  std::shared_ptr<const Bytes> bytes;
  std::shared_ptr<Graph> graph;
  codegen::ReplaceableWeights found;
  CheckModel(Bytes::Map(path.string(), &bytes));
  CheckModel(Load(std::move(bytes), &graph));
  CheckModel(codegen::FindReplaceableWeights(*graph, wanted, &found));
  std::vector<std::string> names;
  for (const auto &[name, weight] : found) names.push_back(name);
  return {std::move(names), codegen::SignatureOf(found)};
}
}  // namespace

NB_MODULE(_codegen, module) {
  module.doc() = "Plans models for other machines, and runs kernels of microcontrollers on the host.";
  nb::module_::import_("mslite._native");  // defines TensorInfo and OperatorError
  nb::exception<ModelError>(module, "ModelError", PyExc_ValueError);

  nb::class_<CodegenTensor>(module, "CodegenTensor",
                            "A tensor. `data` is set for constants that a step reads without packing.")
      .def_ro("name", &CodegenTensor::name)
      .def_ro("dtype", &CodegenTensor::dtype)
      .def_ro("dims", &CodegenTensor::dims)
      .def_ro("quant", &CodegenTensor::quant)
      .def_ro("rounds_even", &CodegenTensor::rounds_even)
      .def_prop_ro("data", [](const CodegenTensor &tensor) -> std::optional<nb::bytes> {
        if (!tensor.has_data) return std::nullopt;
        return ToPython(tensor.data);
      });
  nb::class_<CodegenStep>(module, "CodegenStep",
                          "A prepared call of a kernel. Inputs and outputs are indices of tensors.")
      .def_ro("name", &CodegenStep::name)
      .def_ro("op", &CodegenStep::op)
      .def_ro("kernel", &CodegenStep::kernel)
      .def_ro("parts", &CodegenStep::parts)
      .def_ro("shared_bytes", &CodegenStep::shared_bytes)
      .def_ro("scratch_bytes", &CodegenStep::scratch_bytes)
      .def_ro("inputs", &CodegenStep::inputs)
      .def_ro("outputs", &CodegenStep::outputs)
      .def_ro("unread", &CodegenStep::unread)
      .def_ro("in_place", &CodegenStep::in_place)
      .def_ro("leads", &CodegenStep::leads)
      .def_ro("macs", &CodegenStep::macs)
      .def_prop_ro("rows",
                   [](const CodegenStep &step) {
                     return std::tuple<int64_t, int64_t, int64_t>(step.rows.extent, step.rows.stride, step.rows.pad);
                   })
      .def_ro("custom_type", &CodegenStep::custom_type)
      .def_prop_ro("attributes",
                   [](const CodegenStep &step) {
                     std::vector<std::pair<std::string, nb::bytes>> attributes;
                     for (const auto &[name, bytes] : step.attributes) attributes.emplace_back(name, ToPython(bytes));
                     return attributes;
                   })
      .def_prop_ro("derived", [](const CodegenStep &step) { return ToPython(step.derived); })
      .def_prop_ro("packed", [](const CodegenStep &step) {
        std::vector<std::pair<int32_t, nb::bytes>> packed;
        for (const auto &[operand, bytes] : step.packed) packed.emplace_back(operand, ToPython(bytes));
        return packed;
      });
  nb::class_<CodegenVariable>(module, "CodegenVariable", "A tensor that keeps its value between runs.")
      .def_ro("name", &CodegenVariable::name)
      .def_prop_ro("initial", [](const CodegenVariable &variable) { return ToPython(variable.initial); });
  nb::class_<CodegenGraph>(module, "CodegenGraph", "A subgraph. An item is the index of a step, or ~index of a call.")
      .def_ro("name", &CodegenGraph::name)
      .def_ro("inputs", &CodegenGraph::inputs)
      .def_ro("outputs", &CodegenGraph::outputs)
      .def_ro("items", &CodegenGraph::items)
      .def_prop_ro("reads", [](const CodegenGraph &graph) { return Pairs(graph.reads); })
      .def_prop_ro("writes", [](const CodegenGraph &graph) { return Pairs(graph.writes); });
  nb::class_<CodegenCall>(module, "CodegenCall",
                          "A call of a subgraph. A closure is the index of a branch, or ~index of a choice.")
      .def_ro("name", &CodegenCall::name)
      .def_ro("closure", &CodegenCall::closure)
      .def_ro("outputs", &CodegenCall::outputs)
      .def_ro("is_tail", &CodegenCall::is_tail)
      .def_prop_ro("choices",
                   [](const CodegenCall &call) {
                     std::vector<std::tuple<int32_t, bool, std::vector<int32_t>>> choices;
                     for (const CodegenCall::Choice &one : call.choices) {
                       choices.emplace_back(one.selector, one.selects_by_index, one.targets);
                     }
                     return choices;
                   })
      .def_prop_ro("branches", [](const CodegenCall &call) {
        std::vector<std::pair<int32_t, std::vector<int32_t>>> branches;
        for (const CodegenCall::Branch &one : call.branches) branches.emplace_back(one.graph, one.arguments);
        return branches;
      });
  nb::class_<UnsupportedNode>(module, "UnsupportedNode", "An unsupported node with the reason.")
      .def_ro("name", &UnsupportedNode::name)
      .def_ro("op", &UnsupportedNode::op)
      .def_ro("reason", &UnsupportedNode::reason);
  nb::class_<Int8CallParameters>(
      module, "Int8CallParameters",
      "The parameters of an int8 call for other kernel libraries; if `kind` is empty, `reason` says "
      "why there are none.")
      .def_ro("kind", &Int8CallParameters::kind)
      .def_ro("reason", &Int8CallParameters::reason)
      .def_ro("lists", &Int8CallParameters::lists)
      .def_prop_ro("weights", [](const Int8CallParameters &numbers) { return ToPython(numbers.weights); });
  nb::class_<CodegenPlan>(module, "CodegenPlan",
                          "The plan of a model for given shapes; empty if the model has unsupported nodes.")
      .def_ro("tensors", &CodegenPlan::tensors)
      .def_ro("steps", &CodegenPlan::steps)
      .def_ro("graphs", &CodegenPlan::graphs)
      .def_ro("calls", &CodegenPlan::calls)
      .def_ro("inputs", &CodegenPlan::inputs)
      .def_ro("outputs", &CodegenPlan::outputs)
      .def_ro("variables", &CodegenPlan::variables)
      .def_ro("refusals", &CodegenPlan::refusals)
      .def("cut", &Cut, nb::arg("step"), nb::arg("pad_before"), nb::arg("rows_in"), nb::arg("pad_after"),
           nb::arg("rows_out"),
           "Prepares the kernel of a step for some of its rows; None if the kernel does not support them.")
      .def("cut_channels", &CutOut, nb::arg("step"), nb::arg("first"), nb::arg("count"),
           "Prepares the kernel of a step for some of its output channels; None if the kernel does not support them.")
      .def("numbers", &Numbers, nb::arg("step"), "Returns the parameters of a step for other kernel libraries.");
  nb::class_<Model>(module, "Model", "A `.ms` file. Raises ModelError.")
      .def(nb::init<const std::filesystem::path &>(), nb::arg("path"))
      .def_prop_ro("inputs", &Model::inputs)
      .def("plan", &Model::Plan, nb::arg("isas"), nb::arg("shapes"), nb::call_guard<nb::gil_scoped_release>(),
           "Plans the model for input shapes and instruction sets. Raises ModelError.");

  module.def("step_arena", &StepArena, nb::arg("path"), nb::arg("isas"), nb::arg("threads"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Returns the size of the arena of a training step in bytes, planned for a machine with these instruction "
             "sets and `threads` threads. Raises ModelError.");
  module.def("needs", &Needs, nb::arg("path"),
             "Returns the parts of the library that a model needs: (value of PrimitiveType, name, kinds of values, "
             "kernels that do not support float32) of each operator, and the parts of the loader. Raises ModelError.");
  module.def(
      "replaceable_weights", &ReplaceableWeightsOf, nb::arg("path"), nb::arg("wanted"),
      "Returns the names of the float32 weights that can be replaced in generated C, in the order of net<i>.bin, and "
      "the signature that follows the weights there. `wanted` are names or prefixes up to a '/'; empty: all weights. "
      "Raises ModelError.");
  module.def("kernels", &Kernels,
             "Returns (name, operator, instruction set, may run in place) of the kernels of the targets.");
  module.def("derived_size", &DerivedSize, nb::arg("name"),
             "Returns the size in bytes of the struct that `prepare` of a kernel fills.");
  module.def("prepare", &Prepare, nb::arg("primitive"), nb::arg("inputs"), nb::arg("constant"), nb::arg("outputs"),
             nb::arg("quant_type"), nb::arg("isas"),
             "Selects a kernel of the given instruction sets for a call and prepares it. Raises OperatorError.");
  module.def("supports", &KernelSupports, nb::arg("name"), nb::arg("primitive"), nb::arg("inputs"), nb::arg("constant"),
             nb::arg("outputs"), nb::arg("quant_type") = 0, "Returns True if the named kernel supports the call.");
  module.def("run_kernel", &RunNamed, nb::arg("name"), nb::arg("primitive"), nb::arg("inputs"), nb::arg("constant"),
             nb::arg("outputs"), nb::arg("quant_type") = 0, nb::arg("shuffle_seed") = 0, nb::arg("in_place") = false,
             "Runs the named kernel on the host with guard bytes around its buffers. Raises OperatorError.");
}

}  // namespace mslite::python
