#include "plan/single_node.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "model/names.h"
#include "plan/choose_kernel.h"
#include "plan/failure.h"
#include "plan/prepare.h"
#include "plan/quantized.h"

namespace mslite {
namespace {

// Returns the bytes of a tensor, or -1 if a dimension is unknown, the type has no size or the product overflows.
int64_t TensorBytes(const mslite_tensor &tensor) {
  const int64_t count = mslite_element_count(&tensor);
  const int64_t size = mslite_type_size(tensor.type);
  if (count < 0 || size == 0 || count > std::numeric_limits<int64_t>::max() / 2 / size) return -1;
  return count * size;
}

// Runs every part of one phase once, on `threads` threads, each with its own scratch memory. Returns the first invalid
// value that a part found.
mslite_failure RunPhase(const mslite_kernel &kernel, const mslite_run &shared_run, int32_t phase,
                        const std::vector<int32_t> &order, const std::vector<GuardedBuffer> &scratch) {
  std::atomic<size_t> next{0};
  FailureRecord failures;
  const auto work = [&](const GuardedBuffer &own) {
    mslite_run run = shared_run;
    run.scratch = own.data();
    for (size_t i = next++; i < order.size(); i = next++) {
      mslite_failure failure = {};
      run.failure = &failure;
      kernel.run(&run, phase, order[i]);
      failures.Add(failure);
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < scratch.size(); ++i) helpers.emplace_back(work, std::cref(scratch[i]));
  work(scratch[0]);
  for (std::thread &helper : helpers) helper.join();
  return failures.first();
}

bool AllIntact(const std::vector<GuardedBuffer> &blocks) {
  return std::all_of(blocks.begin(), blocks.end(), [](const GuardedBuffer &block) { return block.Intact(); });
}

}  // namespace

SingleNode::SingleNode(int32_t op, const void *params, std::vector<SingleInput> inputs, int32_t output_count)
    : op_(op), params_(params), inputs_(std::move(inputs)), outputs_(static_cast<size_t>(output_count)) {
  for (SingleInput &input : inputs_) {
    FillKnown(&input.tensor);
    seen_inputs_.push_back(input.tensor);
    if (!input.constant) seen_inputs_.back().data = nullptr;
  }
}

Outcome SingleNode::Fail(mslite_status status, const std::string &reason) const {
  return {status,
          (kernel_ == nullptr ? NodeText(node_) : NodeText(node_) + ", kernel " + kernel_->name) + ": " + reason};
}

size_t SingleNode::output_bytes(size_t index) const { return static_cast<size_t>(TensorBytes(outputs_[index])); }

Outcome SingleNode::Prepare(const IsaSet &isas, const mslite_kernel *forced, const KernelLists &more) {
  for (const SingleInput &input : inputs_) input_pointers_.push_back(&input.tensor);
  int64_t next_symbol = MSLITE_SYMBOL_LIMIT - 1;
  if (Outcome outcome = InferShapes(op_, params_, input_pointers_, &outputs_, &next_symbol); !outcome.ok())
    return outcome;
  std::vector<int32_t> declared_types(outputs_.size(), 0);
  for (size_t i = 0; i < std::min(outputs_.size(), declared_outputs_.size()); ++i) {
    const mslite_tensor &declared = declared_outputs_[i];
    outputs_[i].quant = declared.quant;
    outputs_[i].quant_count = declared.quant_count;
    declared_types[i] = declared.type;
  }
  SetDeclaredTypes(op_, quant_type_, input_pointers_, declared_types, &outputs_);
  for (size_t i = 0; i < seen_inputs_.size(); ++i) input_pointers_[i] = &seen_inputs_[i];
  for (mslite_tensor &output : outputs_) output_pointers_.push_back(&output);
  node_ = {op_,
           params_,
           static_cast<int32_t>(input_pointers_.size()),
           static_cast<int32_t>(output_pointers_.size()),
           input_pointers_.data(),
           output_pointers_.data(),
           quant_type_};
  for (const mslite_tensor &tensor : seen_inputs_) {
    if (TensorBytes(tensor) < 0) return Fail(MSLITE_ERROR_TYPE, "the size of an input is unknown");
  }
  std::string why;
  const mslite_kernel *chosen = forced != nullptr ? forced : ChooseKernel(node_, isas, &why, more);
  if (chosen == nullptr) return {MSLITE_ERROR_UNSUPPORTED, why};
  if (chosen->op != op_ || chosen->support(&node_) <= 0) {
    return Fail(MSLITE_ERROR_UNSUPPORTED, std::string("kernel ") + chosen->name + " does not support this node");
  }
  kernel_ = chosen;
  if (Outcome outcome = CallPrepare(); !outcome.ok()) return outcome;
  if (Outcome outcome = PackConstants(); !outcome.ok()) return outcome;
  if (kernel_->count != nullptr) {
    if (Outcome outcome = CountOutputs(); !outcome.ok()) return outcome;
    if (Outcome outcome = CallPrepare(); !outcome.ok()) return outcome;
  }
  for (const mslite_tensor &output : outputs_) {
    if (TensorBytes(output) < 0) return Fail(MSLITE_ERROR_SHAPE, "the size of " + TensorText(output) + " is not known");
  }
  return {};
}

Outcome SingleNode::CallPrepare() {
  derived_ = GuardedBuffer(std::max(kernel_->derived_size, int32_t{1}));
  FillStack(0xff);
  const mslite_status status = PrepareKernel(*kernel_, node_, derived_.data(), &schedule_);
  if (status != MSLITE_OK) return Fail(status, StatusText(status));
  if (!derived_.Intact()) return Fail(MSLITE_ERROR_VALUE, "prepare wrote beyond derived_size");
  bool sane = schedule_.phase_count >= 0 && schedule_.phase_count <= MSLITE_MAX_PHASES && schedule_.shared_bytes >= 0 &&
              schedule_.scratch_bytes >= 0;
  for (int32_t i = 0; sane && i < schedule_.phase_count; ++i) sane = schedule_.part_count[i] >= 0;
  if (WritesNothing(node_)) schedule_.phase_count = 0;
  return sane ? Outcome{} : Fail(MSLITE_ERROR_VALUE, "prepare gave an invalid schedule");
}

// Prepares again into memory with other contents than the 0xff bytes of the first time. The results must be equal.
Outcome SingleNode::PrepareAgain() const {
  const auto size = static_cast<size_t>(std::max(kernel_->derived_size, int32_t{0}));
  const GuardedBuffer other(static_cast<int64_t>(size) + 1);
  std::memset(other.data(), 0, size);
  mslite_schedule schedule;
  FillStack(0);
  if (const mslite_status status = PrepareKernel(*kernel_, node_, other.data(), &schedule); status != MSLITE_OK) {
    return Fail(status, StatusText(status));
  }
  const auto *first = static_cast<const unsigned char *>(derived_.data());
  const auto *second = static_cast<const unsigned char *>(other.data());
  const size_t at = static_cast<size_t>(std::mismatch(first, first + size, second).first - first);
  if (at == size) return {};
  return Fail(MSLITE_ERROR_VALUE, "prepare does not set byte " + std::to_string(at) + " of " + std::to_string(size) +
                                      ": clear the struct first");
}

Outcome SingleNode::PackConstants() {
  packed_.resize(inputs_.size());
  if (kernel_->pack_size == nullptr) return {};
  for (int32_t i = 0; i < node_.input_count; ++i) {
    if (seen_inputs_[static_cast<size_t>(i)].data == nullptr) continue;
    const int64_t bytes = kernel_->pack_size(&node_, i);
    if (bytes < -1) return Fail(MSLITE_ERROR_VALUE, "pack_size gave a negative size");
    if (bytes <= 0) continue;
    GuardedBuffer &packed = packed_[static_cast<size_t>(i)] = GuardedBuffer(bytes);
    kernel_->pack(&node_, i, seen_inputs_[static_cast<size_t>(i)].data, packed.data());
    if (!packed.Intact()) return Fail(MSLITE_ERROR_VALUE, "pack wrote beyond pack_size");
  }
  return {};
}

Outcome SingleNode::CountOutputs() {
  const GuardedBuffer shared(schedule_.shared_bytes);
  const GuardedBuffer scratch(schedule_.scratch_bytes);
  std::vector<const void *> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs.push_back(packed_[i].data() != nullptr ? packed_[i].data() : inputs_[i].tensor.data);
  }
  const std::vector<void *> no_outputs(outputs_.size(), nullptr);
  const mslite_run run{derived_.data(), inputs.data(), no_outputs.data(), shared.data(), scratch.data(), nullptr};
  std::vector<std::array<int64_t, MSLITE_MAX_RANK>> dims(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) std::copy_n(outputs_[i].dims, MSLITE_MAX_RANK, dims[i].begin());
  const mslite_status status = kernel_->count(&run, reinterpret_cast<int64_t(*)[MSLITE_MAX_RANK]>(dims.data()));
  if (status != MSLITE_OK) return Fail(status, StatusText(status));
  if (!shared.Intact() || !scratch.Intact()) return Fail(MSLITE_ERROR_VALUE, "count wrote beyond the workspace");
  for (size_t i = 0; i < outputs_.size(); ++i) std::copy_n(dims[i].begin(), MSLITE_MAX_RANK, outputs_[i].dims);
  return {};
}

Outcome SingleNode::Execute(const std::vector<const void *> &inputs, const std::vector<void *> &outputs,
                            const RunOptions &options, bool *damaged) {
  const GuardedBuffer shared(schedule_.shared_bytes);
  std::vector<GuardedBuffer> scratch;
  for (int32_t i = 0; i < std::max(options.threads, int32_t{1}); ++i) {
    scratch.emplace_back(schedule_.scratch_bytes);
  }
  const mslite_run run{derived_.data(), inputs.data(), outputs.data(), shared.data(), nullptr, nullptr};
  std::mt19937 random(options.shuffle_seed);
  for (int32_t phase = 0; phase < schedule_.phase_count; ++phase) {
    std::vector<int32_t> order(static_cast<size_t>(schedule_.part_count[phase]));
    std::iota(order.begin(), order.end(), 0);
    if (options.shuffle_seed != 0) std::shuffle(order.begin(), order.end(), random);
    const mslite_failure failure = RunPhase(*kernel_, run, phase, order, scratch);
    if (failure.status != MSLITE_OK) {
      return Fail(static_cast<mslite_status>(failure.status), FailureText(failure));
    }
  }
  *damaged = !shared.Intact() || !AllIntact(scratch) || !derived_.Intact() || !AllIntact(packed_);
  return *damaged ? Fail(MSLITE_ERROR_VALUE, "wrote beyond its workspace") : Outcome{};
}

Outcome SingleNode::Run(const std::vector<void *> &targets) {
  std::vector<const void *> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs.push_back(packed_[i].data() != nullptr ? packed_[i].data() : inputs_[i].tensor.data);
  }
  bool damaged = false;
  return Execute(inputs, targets, RunOptions{}, &damaged);
}

Outcome SingleNode::RunGuarded(const RunOptions &options) {
  input_copies_.clear();
  output_memory_.clear();
  results_.clear();
  std::vector<const void *> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto bytes = static_cast<size_t>(TensorBytes(inputs_[i].tensor));
    input_copies_.emplace_back(bytes);
    if (bytes != 0) std::memcpy(input_copies_[i].data(), inputs_[i].tensor.data, bytes);
    inputs.push_back(packed_[i].data() != nullptr ? packed_[i].data() : input_copies_[i].data());
  }
  const int32_t shared_input = options.in_place && kernel_->in_place != nullptr ? kernel_->in_place(&node_) : -1;
  std::vector<void *> targets;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    output_memory_.emplace_back(output_bytes(i));
    targets.push_back(output_memory_[i].data());
  }
  if (shared_input >= 0) {
    const auto index = static_cast<size_t>(shared_input);
    if (index >= inputs_.size() || packed_[index].data() != nullptr || input_copies_[index].size() < output_bytes(0)) {
      return Fail(MSLITE_ERROR_VALUE, "cannot run in place of input " + std::to_string(shared_input));
    }
    targets[0] = input_copies_[index].data();
  }
  if (Outcome outcome = PrepareAgain(); !outcome.ok()) return outcome;
  bool damaged = false;
  if (Outcome outcome = Execute(inputs, targets, options, &damaged); !outcome.ok()) return outcome;
  if (!AllIntact(input_copies_) || !AllIntact(output_memory_)) {
    return Fail(MSLITE_ERROR_VALUE, "wrote outside of its outputs");
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const bool overwritten = static_cast<int32_t>(i) == shared_input;
    if (!overwritten && input_copies_[i].size() != 0 &&
        std::memcmp(input_copies_[i].data(), inputs_[i].tensor.data, input_copies_[i].size()) != 0) {
      return Fail(MSLITE_ERROR_VALUE, "changed its input " + std::to_string(i));
    }
  }
  results_.assign(targets.begin(), targets.end());
  return {};
}

}  // namespace mslite
