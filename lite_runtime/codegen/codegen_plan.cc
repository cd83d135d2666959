#include "codegen/codegen_plan.h"

#include <algorithm>
#include <utility>

#include "codegen/control_flow_planner.h"
#include "codegen/custom_kernel_node.h"
#include "codegen/kernel_call.h"
#include "model/names.h"
#include "plan/choose_kernel.h"
#include "plan/frame.h"
#include "plan/shapes.h"
#include "plan/work.h"

namespace mslite::codegen {

struct Planning {
  Planning(std::shared_ptr<SharedModel> source, const PlanOptions &wanted)
      : model(std::move(source)), customs(model->graph), options(wanted), nest(model.get(), options, &problems) {
    options.registered = &customs;
  }

  std::shared_ptr<SharedModel> model;
  CustomKernelNodes customs;
  PlanOptions options;
  Problems problems;
  ControlFlowPlanner nest;
  PlannedGraph main;
  std::vector<PlannedStep> steps;  // same indices as CodegenPlan::steps
};

namespace {

CodegenTensor Describe(const Tensor &source) {
  CodegenTensor tensor;
  tensor.name = source.name;
  tensor.dtype = source.type;
  tensor.dims = source.dims;
  for (const mslite_quant &record : source.quant) {
    tensor.quant.emplace_back(record.scale, record.zero_point, record.source_type);
    tensor.rounds_even = record.rounds_even != 0;
  }
  return tensor;
}

std::vector<int32_t> Numbers(int32_t base, const std::vector<int32_t> &locals) {
  std::vector<int32_t> numbers;
  numbers.reserve(locals.size());
  for (const int32_t local : locals) numbers.push_back(base + local);
  return numbers;
}

class Writer {
 public:
  Writer(Planning *planning, CodegenPlan *plan) : planning_(*planning), model_(*planning->model), plan_(plan) {}

  Status Write(const std::vector<std::vector<int64_t>> &shapes) {
    Problems &problems = planning_.problems;
    FindUnsupported(&problems);
    MSLITE_TRY(planning_.nest.Plan(shapes, &planning_.main));
    for (const auto &[node, reason] : problems) {
      const Node &source = NodeAt(node);
      plan_->refusals.push_back({source.name, OperatorName(source.op), reason});
    }
    if (!plan_->refusals.empty()) return mindspore::kSuccess;
    for (size_t i = 0; i < model_.variables.size(); ++i) {
      const Tensor &initial = Initial(static_cast<int32_t>(i));
      plan_->variables.push_back(
          {model_.variables[i].name, ByteStringOf(initial.data, static_cast<int64_t>(initial.size))});
    }
    plan_->graphs.emplace_back();
    WriteGraph(planning_.main, {}, 0);
    WriteInterface();
    return mindspore::kSuccess;
  }

 private:
  const Node &NodeAt(int32_t index) const { return model_.graph->nodes[static_cast<size_t>(index)]; }

  const Program &ProgramOf(const PlannedGraph &graph) const {
    return model_.programs[static_cast<size_t>(graph.graph)];
  }

  // Finds nodes that are unsupported for any shapes, in all graphs that may be called.
  void FindUnsupported(Problems *problems) const {
    std::vector<int32_t> open = {0};
    std::vector<uint8_t> seen(model_.programs.size(), 0);
    while (!open.empty()) {
      const auto index = static_cast<size_t>(open.back());
      open.pop_back();
      if (seen[index]++ != 0) continue;
      for (const ProgramStep &step : model_.programs[index].steps) {
        const Node &node = NodeAt(step.node);
        if (step.call >= 0) {
          const CallSite &site = model_.programs[index].calls[static_cast<size_t>(step.call)];
          for (const CallSite::Branch &branch : site.branches) open.push_back(branch.graph);
        } else if (IsCustomOperator(node)) {
          continue;
        } else if (!HasShapeRule(node.op) || node.params == nullptr) {
          const std::string type = node.custom_type.empty() ? "" : " '" + node.custom_type + "'";
          (*problems)[step.node] = "this operator" + type + " has no shape rule in this library";
        } else if (!node.problem.empty()) {
          (*problems)[step.node] = node.problem;
        }
      }
    }
  }

  const Tensor &Initial(int32_t variable) const {
    const int32_t index = model_.variables[static_cast<size_t>(variable)].initial;
    return model_.graph->tensors[static_cast<size_t>(index)];
  }

  // Writes the tensors, steps and calls of a graph, and of all graphs that it calls. `region`: indices of the graphs
  // from which its tail call selects.
  void WriteGraph(const PlannedGraph &graph, const std::vector<int32_t> &region, size_t number) {
    const Program &program = ProgramOf(graph);
    const int32_t base = WriteTensors(graph);
    CodegenGraph written;
    written.name = program.subgraph->name;
    written.inputs = Numbers(base, program.inputs);
    written.outputs = Numbers(base, program.outputs);
    for (const Program::VariableUse &use : program.reads) written.reads.push_back({use.variable, base + use.local});
    for (const Program::VariableUse &use : program.writes) {
      written.writes.push_back({use.variable, base + use.local});
      WriteData(graph, base, use.local);
    }
    for (const int32_t local : program.inputs) WriteData(graph, base, local);
    for (const int32_t local : program.outputs) WriteData(graph, base, local);
    for (const int32_t item : graph.items) {
      if (item >= 0) {
        written.items.push_back(static_cast<int32_t>(plan_->steps.size()));
        WriteStep(graph, base, graph.steps[static_cast<size_t>(item)]);
      } else {
        const PlannedCall &call = graph.calls[static_cast<size_t>(~item)];
        written.items.push_back(~static_cast<int32_t>(plan_->calls.size()));
        WriteCall(graph, base, call, region);
      }
    }
    plan_->graphs[number] = std::move(written);
  }

  void WriteCall(const PlannedGraph &graph, int32_t base, const PlannedCall &call, const std::vector<int32_t> &region) {
    std::vector<int32_t> numbers = region;
    if (!call.is_tail) {
      numbers.clear();
      for (size_t i = 0; i < call.region.size(); ++i) {
        numbers.push_back(static_cast<int32_t>(plan_->graphs.size()));
        plan_->graphs.emplace_back();
      }
    }
    CodegenCall written;
    written.name = NodeAt(call.source->node).name;
    written.closure = call.closure;
    written.outputs = Numbers(base, call.outputs);
    written.is_tail = call.is_tail;
    for (const CallSite::Choice &choice : call.choices) {
      written.choices.push_back({base + choice.selector, choice.selects_by_index, choice.targets});
      WriteData(graph, base, choice.selector);
    }
    for (const PlannedCall::Branch &branch : call.branches) {
      const int32_t target = branch.place < 0 ? -1 : numbers[static_cast<size_t>(branch.place)];
      written.branches.push_back({target, Numbers(base, branch.arguments)});
      for (const int32_t local : branch.arguments) WriteData(graph, base, local);
    }
    plan_->calls.push_back(std::move(written));
    for (size_t i = 0; !call.is_tail && i < call.region.size(); ++i) {
      WriteGraph(*call.region[i], numbers, static_cast<size_t>(numbers[i]));
    }
  }

  // Writes the tensors of a graph. Returns the number of the first one.
  int32_t WriteTensors(const PlannedGraph &graph) {
    const auto base = static_cast<int32_t>(plan_->tensors.size());
    const Program &program = ProgramOf(graph);
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      CodegenTensor tensor = Describe(model_.graph->tensors[static_cast<size_t>(program.tensors[i])]);
      const mslite_tensor &known = graph.tensors[i];
      tensor.dtype = known.type;
      tensor.dims.assign(known.dims, known.dims + std::max(known.rank, int32_t{0}));
      plan_->tensors.push_back(std::move(tensor));
    }
    return base;
  }

  void WriteData(const PlannedGraph &graph, int32_t base, int32_t local) {
    CodegenTensor &tensor = plan_->tensors[static_cast<size_t>(base + local)];
    const mslite_tensor &known = graph.tensors[static_cast<size_t>(local)];
    if (tensor.has_data || known.data == nullptr) return;
    tensor.has_data = true;
    tensor.data = ByteStringOf(known.data, ByteSize(ShapeOf(known)));
  }

  void WriteStep(const PlannedGraph &graph, int32_t base, const PlannedStep &planned) {
    const ProgramStep &source = *planned.source;
    const Step &step = *planned.step;
    const KernelCall described(planned);
    const mslite_node &call = described.node;
    const mslite_kernel &kernel = *step.kernel;
    CodegenStep written;
    written.name = step.node->name;
    written.op = OperatorName(step.node->op);
    written.kernel = kernel.name;
    if (IsCustomOperator(*step.node)) WriteCustom(*static_cast<const mslite_Custom *>(step.node->params), &written);
    Prepare(kernel, call, &written);
    written.inputs = Numbers(base, source.inputs);
    written.outputs = Numbers(base, source.outputs);
    written.in_place = kernel.in_place == nullptr ? -1 : kernel.in_place(&call);
    written.macs = CountMacs(call);
    written.rows = RowsOf(call);
    for (int32_t i = 0; i < call.input_count; ++i) {
      const auto at = static_cast<size_t>(i);
      written.leads.push_back(kernel.lead == nullptr ? -1 : kernel.lead(&call, step.derived, i));
      if (step.inputs[at].place != Operand::kFixed) continue;
      const int64_t packed = kernel.pack_size == nullptr ? 0 : kernel.pack_size(&call, i);
      if (packed > 0) {
        const void *source_data = call.inputs[i]->data;
        written.packed.emplace_back(
            i, Filled(packed, [&](uint8_t *target) { kernel.pack(&call, i, source_data, target); }));
      } else if (packed < 0) {
        written.unread.push_back(i);
      } else {
        WriteData(graph, base, source.inputs[at]);
      }
    }
    plan_->steps.push_back(std::move(written));
    planning_.steps.push_back(planned);
  }

  static void WriteCustom(const mslite_Custom &custom, CodegenStep *written) {
    written->custom_type = custom.type == nullptr ? "" : custom.type;
    for (int32_t i = 0; i < custom.attr.count; ++i) {
      const mslite_named_bytes &one = custom.attr.at[i];
      written->attributes.emplace_back(one.name == nullptr ? "" : one.name, ByteStringOf(one.data, one.size));
    }
  }

  void WriteInterface() {
    const Program &main = model_.programs[0];
    for (const int32_t index : model_.graph->inputs) {
      for (const int32_t local : main.inputs) {
        if (main.tensors[static_cast<size_t>(local)] == index) plan_->inputs.push_back(local);
      }
    }
    // An assigned variable is another tensor afterwards, so outputs are found by their index in the list.
    const std::vector<int32_t> &listed = main.subgraph->outputs;
    for (const int32_t index : model_.graph->outputs) {
      const auto place = static_cast<size_t>(std::find(listed.begin(), listed.end(), index) - listed.begin());
      if (place >= main.outputs.size()) continue;
      plan_->outputs.push_back(main.outputs[place]);
    }
    if (plan_->outputs.size() < model_.graph->outputs.size()) WriteFinalOutputs();
  }

  // If the main graph ends with a tail call, the results of the called graph are the outputs of the model.
  void WriteFinalOutputs() {
    if (plan_->calls.empty() || planning_.main.calls.empty()) return;
    const PlannedCall &last = planning_.main.calls.back();
    const auto number = static_cast<size_t>(~plan_->graphs[0].items.back());
    for (const std::unique_ptr<PlannedGraph> &graph : last.region) {
      if (!graph->calls.empty() && graph->calls.back().is_tail) continue;
      const Program &program = ProgramOf(*graph);
      const std::vector<int32_t> &wanted = model_.graph->outputs;
      const auto place_of = [&](int32_t index) {
        const auto found = std::find_if(program.outputs.begin(), program.outputs.end(), [&](int32_t local) {
          return program.tensors[static_cast<size_t>(local)] == index;
        });
        return static_cast<size_t>(found - program.outputs.begin());
      };
      const bool by_tensor = std::all_of(wanted.begin(), wanted.end(),
                                         [&](int32_t index) { return place_of(index) < program.outputs.size(); });
      const auto first = static_cast<int32_t>(plan_->tensors.size());
      plan_->calls[number].outputs.clear();
      for (size_t i = 0; i < program.outputs.size(); ++i) {
        const int32_t local = program.outputs[i];
        CodegenTensor tensor =
            Describe(model_.graph->tensors[static_cast<size_t>(program.tensors[static_cast<size_t>(local)])]);
        const mslite_tensor &known = graph->tensors[static_cast<size_t>(local)];
        tensor.dtype = known.type;
        tensor.dims.assign(known.dims, known.dims + std::max(known.rank, int32_t{0}));
        plan_->tensors.push_back(std::move(tensor));
        plan_->calls[number].outputs.push_back(first + static_cast<int32_t>(i));
      }
      plan_->outputs.clear();
      for (size_t i = 0; i < wanted.size(); ++i) {
        const size_t place = by_tensor ? place_of(wanted[i]) : i;
        if (place < program.outputs.size()) plan_->outputs.push_back(first + static_cast<int32_t>(place));
      }
      return;
    }
  }

  Planning &planning_;
  const SharedModel &model_;
  CodegenPlan *plan_;
};

bool Trains(const Graph &graph) {
  const auto trains = [&graph](int32_t index) { return OnlyTrainingHas(graph.nodes[static_cast<size_t>(index)].op); };
  return std::any_of(graph.subgraphs.begin(), graph.subgraphs.end(), [&](const SubGraph &subgraph) {
    return std::any_of(subgraph.nodes.begin(), subgraph.nodes.end(), trains);
  });
}
}  // namespace

std::vector<CodegenTensor> ModelInputs(const SharedModel &model) {
  std::vector<CodegenTensor> inputs;
  for (const int32_t index : model.graph->inputs) {
    inputs.push_back(Describe(model.graph->tensors[static_cast<size_t>(index)]));
  }
  return inputs;
}

Status WritePlan(std::shared_ptr<SharedModel> model, const IsaSet &isas, const KernelList &more,
                 const KernelList &more_for_training, const std::vector<std::vector<int64_t>> &shapes,
                 CodegenPlan *plan) {
  PlanOptions options;
  options.isas = isas;
  options.more_kernels = {more};
  // The training library uses the same kernels.
  if (Trains(*model->graph)) options.more_kernels = {more, more_for_training, TrainingKernels()};
  options.contents_are_fixed = true;
  const auto planning = std::make_shared<Planning>(std::move(model), options);
  plan->planning = planning;
  return Writer(planning.get(), plan).Write(shapes);
}

const PlannedStep &StepOf(const CodegenPlan &plan, size_t step) { return plan.planning->steps[step]; }

Int8CallParameters Int8CallParametersOfStep(const CodegenPlan &plan, size_t step) {
  return Int8CallParametersOf(KernelCall(StepOf(plan, step)).node);
}

}  // namespace mslite::codegen
