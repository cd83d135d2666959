#include "plan/planner.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "model/names.h"
#include "plan/choose_kernel.h"
#include "plan/quantized.h"
#include "plan/shapes.h"
#include "plan/single_node.h"

namespace mslite {
namespace {
// Folding for one plan is limited to shape arithmetic; constants of the model may fold to larger results.
constexpr int64_t kPlanFoldBytes = 64 * 1024;
constexpr int64_t kModelFoldBytes = 1024 * 1024;
// Limits all folded constants together: in a chain of nodes each result may be four times as large as its inputs.
constexpr size_t kModelFoldTotal = size_t{256} * 1024 * 1024;  // plus four times the file size

mindspore::StatusCode CodeOf(mslite_status status) {
  switch (status) {
    case MSLITE_ERROR_SHAPE:
      return mindspore::kLiteInferError;
    case MSLITE_ERROR_ATTRIBUTE:
      return mindspore::kLiteInvalidOpAttr;
    case MSLITE_ERROR_TYPE:
    case MSLITE_ERROR_UNSUPPORTED:
      return mindspore::kLiteNotFindOp;
    default:
      return mindspore::kLiteOpExecuteFailure;
  }
}

// Returns false for operators whose result differs from run to run, or that have side effects.
bool MayFold(int32_t op) {
  switch (op) {
    case MSLITE_OP_RandomStandardNormal:
    case MSLITE_OP_RandomNormal:
    case MSLITE_OP_UniformReal:
    case MSLITE_OP_Assert:
    case MSLITE_OP_Dropout:
      return false;
    default:
      return true;
  }
}

template <typename T>
void StoreKnown(const mslite_tensor &tensor, uint8_t *memory) {
  for (int32_t i = 0; i < tensor.known_count; ++i) {
    const T value = static_cast<T>(tensor.known[i]);
    std::memcpy(memory + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
  }
}

bool IsIntegerWithKnown(const mslite_tensor &tensor) {
  const bool is_integer = tensor.type == MSLITE_INT32 || tensor.type == MSLITE_INT64 || tensor.type == MSLITE_BOOL;
  if (!is_integer || tensor.known_count < 0 || tensor.known_count != mslite_element_count(&tensor)) return false;
  return std::none_of(tensor.known, tensor.known + tensor.known_count, mslite_is_symbol);
}
}  // namespace

Planner::Planner(SharedModel *model, const Program &program, const Frame &frame, const PlanOptions &options,
                 Problems *problems)
    : model_(model), program_(program), frame_(frame), options_(options), problems_(problems) {}
Planner::~Planner() = default;

const Tensor &Planner::GraphTensor(int32_t local) const {
  return model_->graph->tensors[static_cast<size_t>(program_.tensors[static_cast<size_t>(local)])];
}

Status Planner::NodeError(mindspore::StatusCode code, const Node &node, const std::string &reason) const {
  return Fail(code, "file '" + model_->graph->file->name() + "': " + Describe(node) + ": " + reason);
}

// Adds the node to an out-of-memory error.
Status Planner::WithNode(const Status &status, int32_t node) const {
  if (status.StatusCode() != mindspore::kLiteMemoryFailed) return status;
  return NodeError(mindspore::kLiteMemoryFailed, model_->graph->nodes[static_cast<size_t>(node)],
                   status.GetErrDescription());
}

Status Planner::Allocate(uint64_t bytes, AlignedBuffer *memory) {
  *memory = MakeAligned(bytes);
  if (*memory != nullptr) return mindspore::kSuccess;
  return Fail(mindspore::kLiteMemoryFailed, Format("no memory for %" PRIu64 " bytes of an execution plan", bytes));
}

Status Planner::Keep(uint64_t bytes, uint8_t **memory) {
  AlignedBuffer buffer;
  MSLITE_TRY(Allocate(bytes, &buffer));
  *memory = buffer.get();
  plan_->memory.push_back(std::move(buffer));
  return mindspore::kSuccess;
}

// Sets the known tensors when step `begin` starts: constants, and values that earlier steps computed.
void Planner::Start(int32_t begin) {
  plan_ = std::make_shared<Plan>();
  plan_->begin = begin;
  tensors_.assign(program_.tensors.size(), UnknownTensor());
  states_.assign(program_.tensors.size(), State::kAbsent);
  read_.assign(program_.tensors.size(), 0);
  last_use_ = program_.last_use;
  calls_.clear();
  own_steps_.clear();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor &source = GraphTensor(static_cast<int32_t>(i));
    mslite_tensor &tensor = tensors_[i];
    if (source.is_constant) {
      tensor = ConstantTensor(source);
      states_[i] = State::kConstant;
    } else if (program_.producer[i] < begin) {
      const mslite_tensor *folded = model_->weights.Folded(program_.tensors[i]);
      tensor = folded != nullptr ? *folded : TensorOf(frame_.values[i].shape);
      states_[i] = folded != nullptr ? State::kConstant : State::kValue;
      if (folded == nullptr && options_.contents_are_fixed && frame_.values[i].data != nullptr) {
        tensor.data = frame_.values[i].data;
        FillKnown(&tensor);
        states_[i] = State::kPlanConstant;
      }
    }
    tensor.quant_count = static_cast<int32_t>(source.quant.size());
    tensor.quant = source.quant.data();
  }
}

bool Planner::MayBeHalf() const {
  const bool is_asked = options_.half || (options_.node_types != nullptr && !options_.node_types->empty());
  const bool is_possible = options_.mixed || (is_asked && options_.isas.Has(MSLITE_ISA_NEON_FP16));
  return is_possible && !plan_->is_data_dependent;
}

Status Planner::Make(int32_t begin, bool *needs_data, std::shared_ptr<const Plan> *plan) {
  *needs_data = false;
  Start(begin);
  int32_t position = begin;
  for (; position < static_cast<int32_t>(program_.steps.size()); ++position) {
    if (program_.steps[static_cast<size_t>(position)].call >= 0) break;
    Verdict verdict = Verdict::kContinue;
    MSLITE_TRY(WithNode(Visit(position, &verdict), program_.steps[static_cast<size_t>(position)].node));
    if (verdict == Verdict::kNeedsData) {
      *needs_data = true;
      return mindspore::kSuccess;
    }
    if (verdict == Verdict::kStop) break;
    if (plan_->is_data_dependent) {
      ++position;
      break;
    }
  }
  plan_->end = position;
  FuseCalls();
  if (MayBeHalf() && mslite_part_half[0] != nullptr) MSLITE_TRY(mslite_part_half[0](this));
  for (const Call &call : calls_) MSLITE_TRY(WithNode(AddStep(call), call.step->node));
  for (size_t i = 0; i < read_.size(); ++i) {
    if (read_[i] != 0) plan_->shape_checks.push_back({static_cast<int32_t>(i), ShapeOf(tensors_[i])});
  }
  MSLITE_TRY(CollectResults());
  // A plan with problems is never run; it is completed only to find all problems.
  if (problems_->empty() && options_.packs) MSLITE_TRY(PackWeights());
  MSLITE_TRY(PlaceOperands());
  *plan = std::move(plan_);
  return mindspore::kSuccess;
}

bool Planner::IsBlocked(const ProgramStep &step) const {
  return std::any_of(step.outputs.begin(), step.outputs.end(), [this](int32_t output) {
    const mslite_tensor &tensor = tensors_[static_cast<size_t>(output)];
    return tensor.rank < 0 || std::any_of(tensor.dims, tensor.dims + tensor.rank, [](int64_t dim) { return dim < 0; });
  });
}

void Planner::PointTo(const ProgramStep &step) {
  input_pointers_.clear();
  output_pointers_.clear();
  for (const int32_t input : step.inputs) input_pointers_.push_back(&tensors_[static_cast<size_t>(input)]);
  for (const int32_t output : step.outputs) output_pointers_.push_back(&tensors_[static_cast<size_t>(output)]);
}

// Finds the registered kernel that runs the step, if any.
Status Planner::FindRegistered(const ProgramStep &step, bool *broken) {
  registered_ = nullptr;
  if (options_.registered == nullptr) return mindspore::kSuccess;
  const Node &node = model_->graph->nodes[static_cast<size_t>(step.node)];
  std::string why;
  if (const Status status = options_.registered->Find(step.node, input_pointers_, &registered_, &why);
      status.IsError()) {
    return NodeError(status.StatusCode(), node, status.GetErrDescription());
  }
  *broken = registered_ == nullptr && !why.empty() && !HasShapeRule(node.op);
  if (*broken) (*problems_)[step.node] = why;
  return mindspore::kSuccess;
}

Status Planner::Infer(const ProgramStep &step, const Node &node, Verdict *verdict, bool *broken) {
  *broken = false;
  std::vector<mslite_tensor> outputs(step.outputs.size());
  Outcome outcome;
  bool is_inferred = false;
  if (registered_ != nullptr) {
    const Status status = registered_->Infer(input_pointers_, &outputs);
    is_inferred = status.IsOk();
    if (!is_inferred && status != mindspore::kLiteNotSupport) {
      return NodeError(status.StatusCode(), node, status.GetErrDescription());
    }
  }
  if (!is_inferred) outcome = InferShapes(node.op, node.params, input_pointers_, &outputs, &next_symbol_);
  if (outcome.status == MSLITE_ERROR_UNSUPPORTED || outcome.status == MSLITE_ERROR_TYPE) {
    (*problems_)[step.node] = outcome.message;
    *broken = true;
    *verdict = Verdict::kContinue;
    return mindspore::kSuccess;
  }
  if (!outcome.ok()) return NodeError(CodeOf(outcome.status), node, outcome.message);
  std::vector<int32_t> declared;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor &source = GraphTensor(step.outputs[i]);
    outputs[i].quant_count = static_cast<int32_t>(source.quant.size());
    outputs[i].quant = source.quant.data();
    declared.push_back(source.type);
  }
  if (!is_inferred) SetDeclaredTypes(node.op, node.quant_type, input_pointers_, declared, &outputs);
  for (size_t i = 0; i < outputs.size(); ++i) tensors_[static_cast<size_t>(step.outputs[i])] = outputs[i];
  return mindspore::kSuccess;
}

// Gives the first step of the plan the contents of its small inputs. The plan is then valid for these contents only.
Planner::Verdict Planner::UseContents(const ProgramStep &step) {
  for (const int32_t input : step.inputs) {
    mslite_tensor &tensor = tensors_[static_cast<size_t>(input)];
    const int64_t bytes = ByteSize(ShapeOf(tensor));
    if (states_[static_cast<size_t>(input)] != State::kValue || bytes < 0 ||
        mslite_element_count(&tensor) > MSLITE_MAX_KNOWN) {
      continue;
    }
    const uint8_t *data = frame_.values[static_cast<size_t>(input)].data;
    if (data == nullptr) return Verdict::kNeedsData;
    plan_->content_checks.push_back({input, std::vector<uint8_t>(data, data + bytes)});
    tensor.data = plan_->content_checks.back().bytes.data();
    FillKnown(&tensor);
  }
  return Verdict::kContinue;
}

Status Planner::Visit(int32_t position, Verdict *verdict) {
  *verdict = Verdict::kContinue;
  const ProgramStep &step = program_.steps[static_cast<size_t>(position)];
  const Node &node = model_->graph->nodes[static_cast<size_t>(step.node)];
  const auto mark = [&](State state) {
    for (const int32_t output : step.outputs) states_[static_cast<size_t>(output)] = state;
  };
  PointTo(step);
  bool broken = std::any_of(step.inputs.begin(), step.inputs.end(),
                            [this](int32_t input) { return states_[static_cast<size_t>(input)] == State::kBroken; });
  if (!broken) MSLITE_TRY(FindRegistered(step, &broken));
  if (!broken && registered_ == nullptr && UseFolded(step)) return mindspore::kSuccess;
  if (!broken) MSLITE_TRY(Infer(step, node, verdict, &broken));
  if (broken) {
    mark(State::kBroken);
    return mindspore::kSuccess;
  }
  bool is_blocked = IsBlocked(step);
  if (is_blocked && options_.contents_are_fixed) {  // no more contents will be known
    (*problems_)[step.node] = "the shapes of its outputs are known at run time only";
    mark(State::kBroken);
    return mindspore::kSuccess;
  }
  if (is_blocked && position > plan_->begin) {
    *verdict = Verdict::kStop;
    return mindspore::kSuccess;
  }
  const bool counts = registered_ != nullptr ? registered_->counts() : HasDataDependentShapes(node.op);
  if (is_blocked && !counts) {
    *verdict = UseContents(step);
    if (*verdict != Verdict::kContinue) return mindspore::kSuccess;
    MSLITE_TRY(Infer(step, node, verdict, &broken));
    is_blocked = IsBlocked(step);
    // Contents that determined a shape are not constants: kernels must not pack them.
    for (const Plan::ContentCheck &check : plan_->content_checks)
      tensors_[static_cast<size_t>(check.local)].data = nullptr;
  }
  bool done = false;
  if (!is_blocked && registered_ == nullptr) {
    MSLITE_TRY(MaterializeKnown(step, &done));
    if (!done) MSLITE_TRY(Fold(step, node, &done));
    if (done) return mindspore::kSuccess;
  }
  plan_->is_data_dependent = is_blocked;
  mark(State::kTemporary);
  calls_.push_back({&step, &node, position, registered_});
  return mindspore::kSuccess;
}

// Returns whether all inputs of the step are constants of the model, independent of the shapes of this plan.
bool Planner::HasConstantInputs(const ProgramStep &step) const {
  return std::all_of(step.inputs.begin(), step.inputs.end(),
                     [this](int32_t input) { return states_[static_cast<size_t>(input)] == State::kConstant; });
}

// Uses the results that an earlier plan of any session folded.
bool Planner::UseFolded(const ProgramStep &step) {
  if (step.outputs.empty() || !HasConstantInputs(step)) return false;
  std::vector<const mslite_tensor *> values;
  for (const int32_t output : step.outputs) {
    values.push_back(model_->weights.Folded(program_.tensors[static_cast<size_t>(output)]));
    if (values.back() == nullptr) return false;
  }
  for (size_t i = 0; i < values.size(); ++i) SetFolded(step.outputs[i], *values[i], State::kConstant);
  return true;
}

void Planner::SetFolded(int32_t local, const mslite_tensor &value, State state) {
  tensors_[static_cast<size_t>(local)] = value;
  states_[static_cast<size_t>(local)] = state;
}

// Keeps a folded output: in the model's memory if it is the same in every plan, otherwise in the plan's.
void Planner::StoreFolded(int32_t local, mslite_tensor value, AlignedBuffer memory, bool is_constant) {
  value.data = memory.get();
  if (is_constant) {
    const int32_t tensor = program_.tensors[static_cast<size_t>(local)];
    SetFolded(local, model_->weights.AddFolded(tensor, value, std::move(memory)), State::kConstant);
  } else {
    plan_->memory.push_back(std::move(memory));
    SetFolded(local, value, State::kPlanConstant);
  }
}

// If shape inference found all values of all outputs, stores them; the node does not run.
Status Planner::MaterializeKnown(const ProgramStep &step, bool *done) {
  *done = !step.outputs.empty() && std::all_of(step.outputs.begin(), step.outputs.end(), [this](int32_t output) {
    return IsIntegerWithKnown(tensors_[static_cast<size_t>(output)]);
  });
  if (!*done) return mindspore::kSuccess;
  const bool is_constant = HasConstantInputs(step);
  for (const int32_t output : step.outputs) {
    const mslite_tensor &tensor = tensors_[static_cast<size_t>(output)];
    AlignedBuffer memory;
    MSLITE_TRY(Allocate(static_cast<uint64_t>(ByteSize(ShapeOf(tensor))), &memory));
    if (tensor.type == MSLITE_INT64) {
      StoreKnown<int64_t>(tensor, memory.get());
    } else if (tensor.type == MSLITE_INT32) {
      StoreKnown<int32_t>(tensor, memory.get());
    } else {
      StoreKnown<uint8_t>(tensor, memory.get());
    }
    StoreFolded(output, tensor, std::move(memory), is_constant);
  }
  for (const int32_t input : step.inputs) {
    if (states_[static_cast<size_t>(input)] == State::kValue) read_[static_cast<size_t>(input)] = 1;
  }
  return mindspore::kSuccess;
}

// Runs a node whose inputs are all known once, with a kernel that every machine has.
Status Planner::Fold(const ProgramStep &step, const Node &node, bool *done) {
  *done = false;
  if (!MayFold(node.op)) return mindspore::kSuccess;
  std::vector<SingleInput> inputs;
  int64_t input_bytes = 0;
  for (const int32_t input : step.inputs) {
    const mslite_tensor &tensor = tensors_[static_cast<size_t>(input)];
    if (tensor.data == nullptr) return mindspore::kSuccess;
    const int64_t bytes = ByteSize(ShapeOf(tensor));
    if (bytes < 0 || tensor.type == MSLITE_STRING) return mindspore::kSuccess;
    input_bytes += bytes;
    inputs.push_back({tensor, true});
  }
  int64_t output_bytes = 0;
  for (const int32_t output : step.outputs) {
    const int64_t bytes = ByteSize(ShapeOf(tensors_[static_cast<size_t>(output)]));
    if (bytes < 0) return NodeError(mindspore::kLiteInferError, node, "an output is too large");
    output_bytes += bytes;
  }
  const bool is_constant = HasConstantInputs(step);
  const int64_t limit = is_constant ? std::max(kModelFoldBytes, 4 * input_bytes) : kPlanFoldBytes;
  const size_t most_folded = kModelFoldTotal + 4 * model_->graph->file->size();
  if (is_constant && model_->weights.folded_bytes() > most_folded) return mindspore::kSuccess;
  if (output_bytes > limit || (!is_constant && input_bytes > kPlanFoldBytes)) return mindspore::kSuccess;
  SingleNode single(node.op, node.params, std::move(inputs), static_cast<int32_t>(step.outputs.size()));
  if (!single.Prepare(BaseIsas()).ok()) return mindspore::kSuccess;
  std::vector<AlignedBuffer> memory(step.outputs.size());
  std::vector<void *> targets;
  for (size_t i = 0; i < memory.size(); ++i) {
    MSLITE_TRY(Allocate(single.output_bytes(i), &memory[i]));
    targets.push_back(memory[i].get());
  }
  if (const Outcome outcome = single.Run(targets); !outcome.ok()) {
    return NodeError(CodeOf(outcome.status), node, outcome.message);
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    const mslite_tensor &source = tensors_[static_cast<size_t>(step.outputs[i])];
    mslite_tensor tensor = single.outputs()[i];
    tensor.data = targets[i];
    FillKnown(&tensor);
    tensor.quant_count = source.quant_count;
    tensor.quant = source.quant;
    StoreFolded(step.outputs[i], tensor, std::move(memory[i]), is_constant);
  }
  *done = true;
  return mindspore::kSuccess;
}

// Collects the values of this plan that later steps, or the caller, read.
Status Planner::CollectResults() {
  for (size_t i = 0; i < program_.tensors.size(); ++i) {
    const int32_t producer = program_.producer[i];
    const bool is_made_here = producer >= plan_->begin && producer < plan_->end;
    if (!is_made_here || (program_.last_use[i] < plan_->end && !plan_->is_data_dependent)) continue;
    if (states_[i] == State::kBroken) continue;
    Plan::Result result;
    result.local = static_cast<int32_t>(i);
    result.shape = ShapeOf(tensors_[i]);
    if (states_[i] != State::kTemporary) result.constant = static_cast<const uint8_t *>(tensors_[i].data);
    if (!plan_->is_data_dependent) {
      const int64_t bytes = ByteSize(result.shape);
      if (bytes < 0) {
        return Fail(mindspore::kLiteInferError, "tensor '" + GraphTensor(result.local).name + "' " +
                                                    TensorText(tensors_[i]) + " is too large or has no size");
      }
      result.bytes = static_cast<size_t>(bytes);
    }
    plan_->results.push_back(result);
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
