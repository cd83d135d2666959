// Planning between shape inference and the choice of kernels: decides which calls compute in float16 or round to it,
// and adds the casts between float32 and float16.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "plan/half_precision.h"
#include "plan/kernel_types.h"
#include "plan/planner.h"
#include "plan/shapes.h"
#include "plan/work.h"

namespace mslite {
namespace {
constexpr mslite_Cast kCastParams = {};
constexpr int64_t kSmallConstant = 1024;  // elements
constexpr size_t kNear = 4;  // calls; within this distance mixed precision keeps a tensor's second data type

bool IsFloat32(const mslite_tensor &tensor) { return tensor.type == MSLITE_FLOAT32; }

// Returns the largest magnitude that calibration recorded for a tensor; otherwise the range of 8 bits with its scale;
// -1 if unknown.
double SeenIn(const Tensor &tensor) {
  double seen = -1;
  for (const CalibrationRange &range : tensor.ranges) {
    seen = std::max({seen, std::fabs(range.min), std::fabs(range.max)});
  }
  if (seen > 0) return seen;
  for (const mslite_quant &record : tensor.quant) seen = std::max(seen, 255 * std::fabs(record.scale));
  return seen;
}
}  // namespace

// Changes the outputs of calls that have a float16 kernel to float16. Inputs and outputs of the plan stay float32.
class Planner::Float16Planner {
 public:
  explicit Float16Planner(Planner *planner)
      : planner_(*planner), calls_(planner->calls_), tensors_(planner->tensors_) {}

  Status Plan() {
    if (!std::any_of(calls_.begin(), calls_.end(), [this](const Call &call) { return IsWanted(call); })) {
      return mindspore::kSuccess;
    }
    const std::vector<HalfNode> nodes = Nodes();
    if (is_mixed()) {
      is_float32_.assign(tensors_.size(), false);
    } else {
      FindFloat32(nodes);
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
      forms_.push_back({});
      Form &form = forms_.back();
      if (!IsWanted(calls_[i]) || (is_mixed() && !IsBounded(nodes[i].precision))) continue;
      const bool is_whole = !is_mixed() || (nodes[i].precision.exact | nodes[i].precision.exact_results) == 0;
      form.is_half = is_whole && Take(calls_[i], &form);
      form.is_rounded =
          is_mixed() && !form.is_half && calls_[i].registered == nullptr && !KeepsItsTypes(calls_[i].node->op);
    }
    if (!is_mixed()) DropLonely();
    std::vector<Call> calls;
    std::swap(calls, calls_);
    as_half_.assign(tensors_.size(), {});
    as_float_.assign(tensors_.size(), {});
    is_ours_.assign(tensors_.size(), false);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (forms_[i].is_half) {
        MSLITE_TRY(AddHalf(calls[i], std::move(forms_[i])));
      } else if (forms_[i].is_rounded) {
        AddRounded(calls[i], nodes[i].precision);
      } else {
        AddFloat(calls[i]);
      }
    }
    return mindspore::kSuccess;
  }

 private:
  struct Form {
    bool is_half = false;
    bool is_rounded = false;                      // computes in float32, with inputs and outputs rounded to float16
    std::vector<std::vector<uint8_t>> constants;  // per input: its float16 values, if the kernel needs them
  };

  // A tensor's copy in the other data type, and the number of calls that were there when it was added.
  struct Twin {
    int32_t local = -1;
    size_t made = 0;
  };

  bool is_mixed() const { return planner_.options_.mixed; }
  static bool IsBounded(const HalfPrecision &precision) {
    return precision.results != HalfPrecision::kGrown && precision.exact != kAllExact;
  }
  static bool IsBit(uint32_t bits, size_t index) { return index < 32 && (bits >> index & 1) != 0; }
  mslite_tensor &At(int32_t local) { return tensors_[static_cast<size_t>(local)]; }
  bool IsActivation(int32_t local) const {
    const State state = planner_.states_[static_cast<size_t>(local)];
    return IsFloat32(tensors_[static_cast<size_t>(local)]) && (state == State::kValue || state == State::kTemporary);
  }

  // Returns whether the call shall compute in float16: by the setting for this node, or else for the whole model.
  bool IsWanted(const Call &call) const {
    return NamedType(call) == 0 ? planner_.options_.half || is_mixed() : IsNamed(call);
  }
  bool IsNamed(const Call &call) const { return NamedType(call) == MSLITE_FLOAT16; }
  int32_t NamedType(const Call &call) const {
    const NodeTypes *types = planner_.options_.node_types.get();
    if (types == nullptr) return 0;
    const auto place = types->find(call.node->name);
    return place == types->end() ? 0 : place->second;
  }

  std::vector<HalfNode> Nodes() {
    std::vector<HalfNode> nodes;
    for (const Call &call : calls_) {
      planner_.PointTo(*call.step);
      const HalfPrecision precision =
          call.registered != nullptr ? HalfPrecision{HalfPrecision::kGrown, kAllExact} : HalfPrecisionOf(NodeOf(call));
      nodes.push_back({call.step->inputs, call.step->outputs, precision});
    }
    return nodes;
  }

  void FindFloat32(const std::vector<HalfNode> &nodes) {
    std::vector<HalfTensor> tensors;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      tensors.push_back({&tensors_[i], SeenIn(planner_.GraphTensor(static_cast<int32_t>(i)))});
    }
    is_float32_ = FindFloat32Tensors(tensors, nodes);
  }

  // Returns the node of a call, with the operands that the planner's pointers refer to.
  mslite_node NodeOf(const Call &call) const {
    return {call.node->op,
            call.node->params,
            static_cast<int32_t>(planner_.input_pointers_.size()),
            static_cast<int32_t>(planner_.output_pointers_.size()),
            planner_.input_pointers_.data(),
            planner_.output_pointers_.data(),
            call.node->quant_type};
  }

  // Returns whether a float16 kernel supports the call, with its constants as they are or converted to float16.
  bool Take(const Call &call, Form *form) {
    if (call.registered != nullptr || KeepsItsTypes(call.node->op)) return false;
    const auto stays_float32 = [this](int32_t local) {
      return IsFloat32(At(local)) && is_float32_[static_cast<size_t>(local)];
    };
    const ProgramStep &step = *call.step;
    const bool is_read =
        std::any_of(step.inputs.begin(), step.inputs.end(), [this](int32_t input) { return IsActivation(input); });
    const bool is_written =
        std::any_of(step.outputs.begin(), step.outputs.end(), [this](int32_t output) { return IsActivation(output); });
    if (!is_read || !is_written) return false;
    if (!IsNamed(call) && (std::any_of(step.inputs.begin(), step.inputs.end(), stays_float32) ||
                           std::any_of(step.outputs.begin(), step.outputs.end(), stays_float32))) {
      return false;
    }
    std::vector<mslite_tensor> inputs;
    std::vector<mslite_tensor> outputs;
    for (const int32_t input : step.inputs) inputs.push_back(Halved(input));
    for (const int32_t output : step.outputs) outputs.push_back(Halved(output));
    if (HasKernel(call, inputs, outputs)) return true;
    form->constants.resize(inputs.size());
    const int64_t largest = std::max(mslite_element_count(outputs.data()), kSmallConstant);
    for (size_t i = 0; i < inputs.size(); ++i) {
      mslite_tensor &input = inputs[i];
      if (!IsFloat32(input) || IsActivation(step.inputs[i])) continue;
      if (mslite_element_count(&input) > largest) return false;
      if (!CastConstant(input, MSLITE_FLOAT16, &form->constants[i])) return false;
      input.type = MSLITE_FLOAT16;
      input.data = form->constants[i].data();
    }
    return HasKernel(call, inputs, outputs);
  }

  mslite_tensor Halved(int32_t local) {
    mslite_tensor tensor = At(local);
    if (IsActivation(local)) tensor.type = MSLITE_FLOAT16;
    return tensor;
  }

  bool HasKernel(const Call &call, const std::vector<mslite_tensor> &inputs,
                 const std::vector<mslite_tensor> &outputs) const {
    std::vector<const mslite_tensor *> operands;
    for (const std::vector<mslite_tensor> *list : {&inputs, &outputs}) {
      for (const mslite_tensor &tensor : *list) operands.push_back(&tensor);
    }
    const mslite_node node = {call.node->op,
                              call.node->params,
                              static_cast<int32_t>(inputs.size()),
                              static_cast<int32_t>(outputs.size()),
                              operands.data(),
                              operands.data() + inputs.size(),
                              call.node->quant_type};
    return ChooseKernel(node, planner_.options_.isas, nullptr, planner_.options_.more_kernels) != nullptr;
  }

  // Moves calls back to float32 that are not matmuls or convolutions and have no float16 neighbor: their casts would
  // cost more than float16 saves.
  void DropLonely() {
    for (bool changes = true; changes;) {
      changes = false;
      std::vector<uint8_t> has_half(tensors_.size(), 0);  // bit 0: produced in float16, bit 1: read in float16
      for (size_t i = 0; i < calls_.size(); ++i) {
        if (!forms_[i].is_half) continue;
        for (const int32_t output : calls_[i].step->outputs) has_half[static_cast<size_t>(output)] |= 1;
        for (const int32_t input : calls_[i].step->inputs) has_half[static_cast<size_t>(input)] |= 2;
      }
      const auto has = [&](const std::vector<int32_t> &locals, int32_t bit) {
        return std::any_of(locals.begin(), locals.end(),
                           [&](int32_t local) { return (has_half[static_cast<size_t>(local)] & bit) != 0; });
      };
      for (size_t i = 0; i < calls_.size(); ++i) {
        const Call &call = calls_[i];
        if (!forms_[i].is_half || IsMultiplyAccumulate(call.node->op) || IsNamed(call)) continue;
        if (has(call.step->inputs, 1) || has(call.step->outputs, 2)) continue;
        forms_[i].is_half = false;
        changes = true;
      }
    }
  }

  bool IsResult(int32_t local) const {
    return planner_.program_.last_use[static_cast<size_t>(local)] >= planner_.plan_->end;
  }

  Status AddHalf(const Call &call, Form form) {
    ProgramStep step = *call.step;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      int32_t &input = step.inputs[i];
      if (i < form.constants.size() && !form.constants[i].empty()) {
        MSLITE_TRY(AddConstant(form.constants[i], &input));
      } else if (IsActivation(input)) {
        input = Cast(call, input, MSLITE_FLOAT16, &as_half_);
      }
    }
    // The computed tensor, and the tensor that the rest of the program reads.
    std::vector<std::pair<int32_t, int32_t>> results;
    for (int32_t &output : step.outputs) {
      if (!IsActivation(output)) continue;
      if (!IsResult(output)) {
        At(output).type = MSLITE_FLOAT16;
        is_ours_[static_cast<size_t>(output)] = true;
        continue;
      }
      const int32_t result = output;
      output = AddLocal(result, MSLITE_FLOAT16);
      as_half_[static_cast<size_t>(result)] = {output, calls_.size()};
      results.emplace_back(output, result);
    }
    Add(call, std::move(step));
    for (const auto &[from, to] : results) AddCast(call, from, to);
    return mindspore::kSuccess;
  }

  // Adds a float32 call between casts that round to float16. Outputs of the plan are not rounded.
  void AddRounded(const Call &call, const HalfPrecision &precision) {
    ProgramStep step = *call.step;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      int32_t &input = step.inputs[i];
      if (IsActivation(input) && !IsBit(precision.exact, i)) input = Cast(call, input, MSLITE_FLOAT16, &as_half_);
      if (At(input).type == MSLITE_FLOAT16) input = Cast(call, input, MSLITE_FLOAT32, &as_float_);
    }
    std::vector<std::pair<int32_t, int32_t>> results;  // computed, and rounded
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      int32_t &output = step.outputs[i];
      if (!IsActivation(output) || IsResult(output) || IsBit(precision.exact_results, i)) continue;
      const int32_t result = output;
      output = AddLocal(result, MSLITE_FLOAT32);
      At(result).type = MSLITE_FLOAT16;
      is_ours_[static_cast<size_t>(result)] = true;
      results.emplace_back(output, result);
    }
    Add(call, std::move(step));
    for (const auto &[from, to] : results) AddCast(call, from, to);
  }

  void AddFloat(const Call &call) {
    ProgramStep step = *call.step;
    bool changes = false;
    for (int32_t &input : step.inputs) {
      if (!is_ours_[static_cast<size_t>(input)]) continue;
      input = Cast(call, input, MSLITE_FLOAT32, &as_float_);
      changes = true;
    }
    if (changes) {
      Add(call, std::move(step));
    } else {
      calls_.push_back(call);
    }
  }

  // Returns the tensor with the values of `local` as `type`; adds a cast if `known` has none. In training the backward
  // pass reads the tensor again much later; until then one data type of it is enough.
  int32_t Cast(const Call &call, int32_t local, int32_t type, std::vector<Twin> *known) {
    if (At(local).type == type) return local;
    const auto index = static_cast<size_t>(local);
    const Twin twin = (*known)[index];
    if (twin.local >= 0 && (!is_mixed() || calls_.size() <= twin.made + kNear)) return twin.local;
    const int32_t to = AddLocal(local, type);
    AddCast(call, local, to);
    (*known)[index] = {to, calls_.size()};
    return to;
  }

  void AddCast(const Call &call, int32_t from, int32_t to) {
    const int32_t graph_tensor = OriginOf(to);
    Node node;
    const bool narrows = At(to).type == MSLITE_FLOAT16;
    node.name = planner_.model_->graph->tensors[static_cast<size_t>(graph_tensor)].name +
                (narrows ? "_to_float16" : "_to_float32");
    node.op = MSLITE_OP_Cast;
    node.params = &kCastParams;
    node.inputs = {graph_tensor};
    node.outputs = {graph_tensor};
    planner_.plan_->casts.push_back(std::move(node));
    ProgramStep step;
    step.node = call.step->node;
    step.inputs = {from};
    step.outputs = {to};
    planner_.own_steps_.push_back(std::move(step));
    calls_.push_back({&planner_.own_steps_.back(), &planner_.plan_->casts.back(), call.position, nullptr});
  }

  void Add(const Call &call, ProgramStep step) {
    planner_.own_steps_.push_back(std::move(step));
    calls_.push_back(call);
    calls_.back().step = &planner_.own_steps_.back();
  }

  // Adds a tensor to this plan, with the properties of `like`, which is one of the program.
  int32_t AddLocal(int32_t like, int32_t type) {
    const auto local = static_cast<int32_t>(tensors_.size());
    mslite_tensor tensor = At(like);
    tensor.type = type;
    tensor.data = nullptr;
    tensors_.push_back(tensor);
    planner_.states_.push_back(State::kTemporary);
    planner_.read_.push_back(0);
    planner_.last_use_.push_back(Program::kNever);
    as_half_.push_back({});
    as_float_.push_back({});
    is_ours_.push_back(false);
    origin_[local] = OriginOf(like);
    return local;
  }

  // Returns the tensor of the graph that a local tensor belongs to.
  int32_t OriginOf(int32_t local) const {
    const auto own = origin_.find(local);
    return own != origin_.end() ? own->second : planner_.program_.tensors[static_cast<size_t>(local)];
  }

  Status AddConstant(const std::vector<uint8_t> &numbers, int32_t *local) {
    uint8_t *memory = nullptr;
    MSLITE_TRY(planner_.Keep(numbers.size(), &memory));
    std::copy(numbers.begin(), numbers.end(), memory);
    *local = AddLocal(*local, MSLITE_FLOAT16);
    At(*local).data = memory;
    planner_.states_.back() = State::kPlanConstant;
    return mindspore::kSuccess;
  }

  Planner &planner_;
  std::vector<Call> &calls_;
  std::vector<mslite_tensor> &tensors_;
  std::vector<bool> is_float32_;
  std::vector<Form> forms_;                      // per call
  std::vector<Twin> as_half_;                    // per tensor: its copy in float16
  std::vector<Twin> as_float_;                   // per tensor: its copy in float32
  std::vector<bool> is_ours_;                    // per tensor: the program's tensor is stored as float16 by this plan
  std::unordered_map<int32_t, int32_t> origin_;  // tensor of this plan -> tensor of the graph
};

Status Planner::PlanHalf(Planner *planner) { return Float16Planner(planner).Plan(); }
}  // namespace mslite
