// The last part of planning: kernels and memory of the steps.
#include <algorithm>
#include <map>

#include "plan/choose_kernel.h"
#include "plan/planner.h"
#include "plan/prepare.h"
#include "plan/shapes.h"

namespace mslite {
namespace {
constexpr int64_t kMaximumWorkspace = int64_t{1} << 40;
constexpr int32_t kMaximumParts = 1 << 30;

bool IsSane(const mslite_schedule &schedule) {
  if (schedule.phase_count < 0 || schedule.phase_count > MSLITE_MAX_PHASES) return false;
  if (schedule.shared_bytes < 0 || schedule.shared_bytes > kMaximumWorkspace) return false;
  if (schedule.scratch_bytes < 0 || schedule.scratch_bytes > kMaximumWorkspace) return false;
  return std::all_of(schedule.part_count, schedule.part_count + schedule.phase_count,
                     [](int32_t parts) { return parts >= 0 && parts <= kMaximumParts; });
}
}  // namespace

Status Planner::ChooseAndPrepare(const Call &source, Step *step) {
  const Node &node = *source.node;
  step->registered = source.registered;
  const mslite_node call = {node.op,
                            step->params(),
                            static_cast<int32_t>(input_pointers_.size()),
                            static_cast<int32_t>(output_pointers_.size()),
                            input_pointers_.data(),
                            output_pointers_.data(),
                            node.quant_type};
  std::string why;
  step->kernel = source.registered != nullptr ? &source.registered->kernel()
                                              : ChooseKernel(call, options_.isas, &why, options_.more_kernels);
  if (step->kernel == nullptr) {
    (*problems_)[source.step->node] = why;
    return mindspore::kSuccess;
  }
  if (plan_->is_data_dependent && step->kernel->count == nullptr) {
    return NodeError(mindspore::kLiteInferError, node,
                     "its output shape depends on contents that are too large for shape inference");
  }
  uint8_t *derived = nullptr;
  MSLITE_TRY(Keep(static_cast<size_t>(std::max(step->kernel->derived_size, int32_t{0})), &derived));
  const mslite_status status = PrepareKernel(*step->kernel, call, derived, &step->schedule);
  if (status != MSLITE_OK && source.registered != nullptr) {
    return NodeError(mindspore::kLiteError, node, source.registered->error());
  }
  if (status != MSLITE_OK) {
    return NodeError(mindspore::kLiteInvalidOpAttr, node,
                     std::string("kernel ") + step->kernel->name + ": " + StatusText(status));
  }
  if (!IsSane(step->schedule)) {
    return NodeError(mindspore::kLiteError, node, std::string("kernel ") + step->kernel->name + ": invalid schedule");
  }
  if (source.registered == nullptr && WritesNothing(call)) step->schedule.phase_count = 0;
  step->derived = derived;
  for (int32_t i = 0; i < call.input_count; ++i) {
    const int32_t local = source.step->inputs[static_cast<size_t>(i)];
    const State state = states_[static_cast<size_t>(local)];
    Operand operand;
    if (state == State::kValue || state == State::kTemporary) {
      operand.place = state == State::kValue ? Operand::kValue : Operand::kArena;
      operand.at = local;
      if (state == State::kValue) read_[static_cast<size_t>(local)] = 1;
    } else {
      operand.fixed = input_pointers_[static_cast<size_t>(i)]->data;
      const bool may_pack = step->kernel->pack_size != nullptr && operand.fixed != nullptr;
      const int64_t bytes = may_pack ? step->kernel->pack_size(&call, i) : 0;
      if (bytes < -1) {
        return NodeError(mindspore::kLiteError, node,
                         std::string("kernel ") + step->kernel->name + ": invalid size of packed weights");
      }
      if (bytes > 0 && state == State::kConstant) {
        to_pack_.push_back({plan_->steps.size(), i, bytes});
      } else if (bytes > 0) {
        uint8_t *memory = nullptr;
        MSLITE_TRY(Keep(static_cast<uint64_t>(bytes), &memory));
        step->kernel->pack(&call, i, operand.fixed, memory);
        operand.fixed = memory;
      }
    }
    step->inputs.push_back(operand);
  }
  return mindspore::kSuccess;
}

Status Planner::AddStep(const Call &call) {
  PointTo(*call.step);
  Step step;
  step.node = call.node;
  for (const int32_t output : call.step->outputs) {
    const mslite_tensor &tensor = tensors_[static_cast<size_t>(output)];
    step.output_shapes.push_back(ShapeOf(tensor));
    if (!plan_->is_data_dependent && ByteSize(step.output_shapes.back()) < 0) {
      return NodeError(mindspore::kLiteInferError, *call.node,
                       "its output " + TensorText(tensor) + " is too large or has no size");
    }
    step.outputs.push_back({Operand::kArena, output, nullptr});
  }
  for (const mslite_tensor *input : input_pointers_) step.input_shapes.push_back(ShapeOf(*input));
  MSLITE_TRY(ChooseAndPrepare(call, &step));
  plan_->steps.push_back(std::move(step));
  return mindspore::kSuccess;
}

// Packs the constants of all steps at once, so that threads can share the work.
Status Planner::PackWeights() {
  std::vector<PackJob> jobs;
  std::vector<std::vector<const mslite_tensor *>> operands(to_pack_.size());
  for (size_t i = 0; i < to_pack_.size(); ++i) {
    const Step &step = plan_->steps[to_pack_[i].step];
    const ProgramStep &source = *calls_[to_pack_[i].step].step;
    for (const int32_t input : source.inputs) operands[i].push_back(&tensors_[static_cast<size_t>(input)]);
    for (const int32_t output : source.outputs) operands[i].push_back(&tensors_[static_cast<size_t>(output)]);
    const mslite_node call = {step.node->op,
                              step.params(),
                              static_cast<int32_t>(source.inputs.size()),
                              static_cast<int32_t>(source.outputs.size()),
                              operands[i].data(),
                              operands[i].data() + source.inputs.size(),
                              step.node->quant_type};
    jobs.push_back({step.kernel, call, source.node, to_pack_[i].input, to_pack_[i].bytes, nullptr});
  }
  if (const Status status = model_->weights.Pack(*model_->graph, &jobs, options_.threads); status.IsError()) {
    const auto failed =
        std::find_if(jobs.begin(), jobs.end(), [](const PackJob &job) { return job.packed == nullptr; });
    const int32_t node = failed == jobs.end() ? jobs.front().node_index : failed->node_index;
    return NodeError(static_cast<mindspore::StatusCode>(status.StatusCode()),
                     model_->graph->nodes[static_cast<size_t>(node)], status.GetErrDescription());
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    Step &step = plan_->steps[to_pack_[i].step];
    step.inputs[static_cast<size_t>(to_pack_[i].input)].fixed = jobs[i].packed;
  }
  return mindspore::kSuccess;
}

// Sets the predecessors of each step: the producers of its inputs, and the previous step of its device lane.
void Planner::LinkSteps(std::vector<std::vector<int32_t>> *predecessors) {
  std::vector<int32_t> producer(tensors_.size(), -1);
  std::map<int32_t, int32_t> last_of_lane;
  predecessors->resize(plan_->steps.size());
  bool is_chain = true;
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    std::vector<int32_t> &mine = (*predecessors)[i];
    for (const int32_t input : calls_[i].step->inputs) {
      const int32_t step = producer[static_cast<size_t>(input)];
      if (step >= 0 && std::find(mine.begin(), mine.end(), step) == mine.end()) mine.push_back(step);
    }
    if (const int32_t lane = plan_->steps[i].lane(); lane >= 0) {
      const auto [last, is_first] = last_of_lane.emplace(lane, static_cast<int32_t>(i));
      if (!is_first && std::find(mine.begin(), mine.end(), last->second) == mine.end()) mine.push_back(last->second);
      last->second = static_cast<int32_t>(i);
    }
    is_chain = is_chain && (i == 0 || std::find(mine.begin(), mine.end(), static_cast<int32_t>(i) - 1) != mine.end());
    plan_->steps[i].predecessor_count = static_cast<int32_t>(mine.size());
    for (const int32_t step : mine)
      plan_->steps[static_cast<size_t>(step)].successors.push_back(static_cast<int32_t>(i));
    for (const Operand &output : plan_->steps[i].outputs) {
      producer[static_cast<size_t>(output.at)] = static_cast<int32_t>(i);
    }
  }
  plan_->has_branches = options_.branches && !is_chain;
}

Status Planner::PlaceOperands() {
  std::vector<std::vector<int32_t>> predecessors;
  LinkSteps(&predecessors);
  const StepOrder order = plan_->has_branches ? StepOrder::Branches(predecessors) : StepOrder::Linear();
  std::vector<uint8_t> is_result(tensors_.size(), 0);
  for (const Plan::Result &result : plan_->results) is_result[static_cast<size_t>(result.local)] = 1;
  std::vector<std::vector<int32_t>> readers(tensors_.size());
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    for (const Operand &input : plan_->steps[i].inputs) {
      if (input.place == Operand::kArena) readers[static_cast<size_t>(input.at)].push_back(static_cast<int32_t>(i));
    }
  }

  std::vector<ArenaBuffer> buffers;
  std::vector<int32_t> buffer_of(tensors_.size(), -1);
  // Returns the input that the kernel allows output 0 of a step to overwrite, or -1.
  const auto overwritable = [&](size_t index) -> int32_t {
    const Step &step = plan_->steps[index];
    if (step.kernel == nullptr || step.kernel->in_place == nullptr || step.outputs.empty()) return -1;
    const ProgramStep &source = *calls_[index].step;
    std::vector<const mslite_tensor *> inputs, outputs;
    for (const int32_t input : source.inputs) inputs.push_back(&tensors_[static_cast<size_t>(input)]);
    for (const int32_t output : source.outputs) outputs.push_back(&tensors_[static_cast<size_t>(output)]);
    const mslite_node call = {step.node->op,
                              step.params(),
                              static_cast<int32_t>(inputs.size()),
                              static_cast<int32_t>(outputs.size()),
                              inputs.data(),
                              outputs.data(),
                              step.node->quant_type};
    const int32_t input = step.kernel->in_place(&call);
    if (input < 0 || input >= call.input_count) return -1;
    const int32_t local = source.inputs[static_cast<size_t>(input)];
    return std::count(source.inputs.begin(), source.inputs.end(), local) == 1 ? input : -1;
  };
  // Returns the value from before this plan that is last used in a step and whose memory its output 0 may reuse, or -1.
  const auto taken_value = [&](size_t index) -> int32_t {
    const Step &step = plan_->steps[index];
    const int32_t input = overwritable(index);
    if (input < 0 || plan_->has_branches) return -1;
    const Operand &operand = step.inputs[static_cast<size_t>(input)];
    const auto local = static_cast<size_t>(operand.at);
    if (operand.place != Operand::kValue || last_use_[local] != calls_[index].position) return -1;
    const bool fits = ByteSize(step.output_shapes[0]) <= ByteSize(step.input_shapes[static_cast<size_t>(input)]);
    return fits ? static_cast<int32_t>(local) : -1;
  };
  // Returns the buffer of an input that is last used in a step and that its output 0 may reuse, or -1.
  const auto in_place = [&](size_t index) -> int32_t {
    const Step &step = plan_->steps[index];
    const int32_t input = overwritable(index);
    if (input < 0 || step.inputs[static_cast<size_t>(input)].place != Operand::kArena) return -1;
    const auto local = static_cast<size_t>(step.inputs[static_cast<size_t>(input)].at);
    const int32_t buffer = buffer_of[local];
    if (buffer < 0) return -1;
    const bool dies = std::all_of(readers[local].begin(), readers[local].end(), [&](int32_t reader) {
      return reader == static_cast<int32_t>(index) || order.Before(reader, static_cast<int32_t>(index));
    });
    return dies && ByteSize(step.output_shapes[0]) <= buffers[static_cast<size_t>(buffer)].size ? buffer : -1;
  };
  // Where to store the offset of a step's workspace.
  struct Workspace {
    int64_t *offset;
    size_t buffer;
  };
  std::vector<Workspace> workspaces;
  const auto add_workspace = [&](int64_t bytes, int32_t step, int64_t *offset) {
    if (bytes == 0) return;
    workspaces.push_back({offset, buffers.size()});
    buffers.push_back({bytes, step, {step}, -1});
  };
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    Step &step = plan_->steps[i];
    const auto index = static_cast<int32_t>(i);
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      const auto local = static_cast<size_t>(step.outputs[k].at);
      if (is_result[local] != 0) {
        step.outputs[k].place = Operand::kValue;
        const auto result =
            std::find_if(plan_->results.begin(), plan_->results.end(),
                         [local](const Plan::Result &one) { return static_cast<size_t>(one.local) == local; });
        if (k == 0 && !plan_->is_data_dependent) result->takes = taken_value(i);
        continue;
      }
      std::vector<int32_t> last = readers[local].empty() ? std::vector<int32_t>{index} : readers[local];
      if (const int32_t buffer = k == 0 ? in_place(i) : -1; buffer >= 0) {
        buffer_of[local] = buffer;
        std::vector<int32_t> &all = buffers[static_cast<size_t>(buffer)].last;
        all.insert(all.end(), last.begin(), last.end());
        continue;
      }
      buffer_of[local] = static_cast<int32_t>(buffers.size());
      buffers.push_back({ByteSize(step.output_shapes[k]), index, std::move(last), -1});
    }
    step.scratch_stride = AlignedSize(step.schedule.scratch_bytes);
    add_workspace(step.schedule.shared_bytes, index, &step.shared_offset);
    add_workspace(step.scratch_stride * options_.threads, index, &step.scratch_offset);
  }
  plan_->arena_bytes = LayOutArena(order, &buffers);
  if (plan_->arena_bytes < 0)
    return Fail(mindspore::kLiteMemoryFailed, "the activations need more than 2^63 bytes of memory");
  for (const Workspace &workspace : workspaces) *workspace.offset = buffers[workspace.buffer].offset;
  const auto resolve = [&](std::vector<Operand> *operands) {
    for (Operand &operand : *operands) {
      if (operand.place != Operand::kArena) continue;
      const auto local = static_cast<size_t>(operand.at);
      if (is_result[local] != 0) {
        operand.place = Operand::kValue;
      } else {
        operand.at = buffers[static_cast<size_t>(buffer_of[local])].offset;
      }
    }
  };
  for (Step &step : plan_->steps) {
    resolve(&step.inputs);
    resolve(&step.outputs);
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
