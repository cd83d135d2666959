#include "opencl/opencl_part.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/message.h"
#include "opencl/opencl_attention.h"
#include "opencl/opencl_fusion.h"
#include "plan/work.h"

namespace mslite {
OpenClPart::~OpenClPart() {
  if (WantsOpenClCounts() && counts_.runs > 0) WriteOpenClCounts(counts_, device_->name());
}

Status OpenClPart::Prepare() {
  launches_.clear();
  counts_ = {};
  std::vector<std::unique_ptr<Part::Call>> calls;
  std::vector<OpenClPlan> plans;
  calls.reserve(part_.nodes.size());
  plans.reserve(part_.nodes.size());
  for (const Part::Node &node : part_.nodes) {
    calls.push_back(std::make_unique<Part::Call>(part_, node));
    const OpenClOperator *entry = FindOpenClOperator(node.op);
    const std::string reason = entry == nullptr ? "no kernel" : entry->why_not(calls.back()->node());
    if (!reason.empty()) return Fail(mindspore::kLiteNotSupport, "node '" + node.name + "': " + reason);
    plans.emplace_back(calls.back()->node(), node.inputs, node.outputs, storage_->is_half());
    entry->plan(&plans.back());
    int64_t left =
        CountFlops(plans.back().node());  // counted for the first launch, unless launches set their own number
    counts_.least_flops += left;
    for (OpenClLaunch &launch : plans.back().launches()) {
      if (launch.operations < 0) launch.operations = left;
      left = 0;
    }
  }
  roots_ = Roots(plans);
  FuseEpilogues(part_, roots_, &plans);
  FuseAttention(part_, roots_, device_->limits().local_bytes, &plans);
  forms_ = storage_->FormsOf(part_, roots_);
  images_ = OpenClImages();
  if (storage_->has_images()) images_ = OpenClImages(part_, plans, roots_, device_->limits());
  MSLITE_TRY(LayOut(plans));
  MSLITE_TRY(UploadConstants(plans));
  return MakeLaunches(plans);
}

std::string OpenClPart::DefinesOf(size_t node, const OpenClLaunch &launch) const {
  std::string defines;
  for (const OpenClLaunch::Argument &argument : launch.arguments) {
    if (argument.name.empty()) continue;
    const Memory memory = MemoryOf(node, argument.operand);
    defines += DefineOperand(argument.name, memory.type, memory.form);
  }
  return defines + launch.defines + DefineEpilogue(launch);
}

Status OpenClPart::MakeReady(size_t node, const OpenClLaunch &launch, const OpenClChoice &choice, ReadyLaunch *ready) {
  std::string defines = DefinesOf(node, launch);
  if (launch.tile.define != nullptr) {
    defines += std::string("#define ") + launch.tile.define + " " + std::to_string(choice.tile) + "\n";
  }
  MSLITE_TRY(device_->MakeKernel(launch.file, defines, launch.function, &ready->kernel, &counts_.builds));
  ready->items = ItemsOf(launch, choice.tile);
  ready->group = choice.group;
  for (size_t k = 0; k < launch.arguments.size(); ++k) {
    const OpenClLaunch::Argument &argument = launch.arguments[k];
    const cl_mem memory = argument.is_buffer ? MemoryOf(node, argument.operand).memory : nullptr;
    const void *value = &argument.integer;
    size_t size = sizeof argument.integer;
    if (argument.is_buffer) {
      value = &memory;
      size = sizeof(cl_mem);
    } else if (argument.is_real) {
      value = &argument.real;
    }
    MSLITE_TRY(
        OpenClStatus(device_->library().clSetKernelArg(ready->kernel->kernel(), static_cast<cl_uint>(k), size, value),
                     ("clSetKernelArg " + std::to_string(k) + " of " + launch.function).c_str()));
  }
  return mindspore::kSuccess;
}

// Measurements run on uninitialized memory, whose contents are not needed yet. Launches that may report a fault are not
// measured, because random indices would be out of range. Choices that fail are skipped. A stored choice is only used
// if it is a choice of this launch, because the file may be damaged or the program may have changed.
OpenClChoice OpenClPart::Choose(size_t node, const OpenClLaunch &launch) {
  const std::vector<OpenClChoice> choices = ChoicesOf(launch, device_->limits().group_size);
  OpenClTuning &tuning = device_->tuning();
  const bool may_fault =
      std::any_of(launch.arguments.begin(), launch.arguments.end(), [](const OpenClLaunch::Argument &argument) {
        return argument.is_buffer && argument.operand.place == OpenClOperand::kFault;
      });
  if (choices.size() == 1 || may_fault) return choices.front();
  const Digest key = device_->TuningKeyOf(launch, DefinesOf(node, launch));
  OpenClChoice best;
  if (tuning.Find(key, &best) && std::find(choices.begin(), choices.end(), best) != choices.end()) return best;
  best = choices.front();
  if (!tuning.measures()) return best;
  constexpr int kTurns = 3;  // the first one warms up
  double shortest = std::numeric_limits<double>::infinity();
  for (const OpenClChoice &choice : choices) {
    ReadyLaunch ready;
    if (MakeReady(node, launch, choice, &ready).IsError()) continue;
    if (choice.group[0] * choice.group[1] * choice.group[2] > device_->GroupSizeOf(*ready.kernel)) continue;
    for (int turn = 0; turn < kTurns; ++turn) {
      double seconds = 0;
      if (device_->Measure(*ready.kernel, ready.items, ready.group, &seconds).IsError()) break;
      if (turn == 0 || seconds >= shortest) continue;
      shortest = seconds;
      best = choice;
    }
  }
  if (shortest < std::numeric_limits<double>::infinity()) tuning.Keep(key, best);
  return best;
}

Status OpenClPart::MakeLaunches(const std::vector<OpenClPlan> &plans) {
  std::vector<OpenClChoice> choices;
  for (size_t i = 0; i < plans.size(); ++i) {
    for (const OpenClLaunch &launch : plans[i].launches()) {
      choices.push_back(Choose(i, launch));
      MSLITE_TRY(MakeReady(i, launch, choices.back(), &launches_.emplace_back()));
    }
  }
  device_->tuning().Write();
  MakeBorder(plans);
  Count(plans, choices);
  return mindspore::kSuccess;
}

// An output may have the memory of an input, a constant or another output. It is then copied from there, and cannot use
// shared host memory.
void OpenClPart::MakeBorder(const std::vector<OpenClPlan> &plans) {
  std::map<int32_t, std::vector<std::pair<cl_kernel, cl_uint>>> uses;  // root tensor -> its uses
  size_t at = 0;
  for (const OpenClPlan &plan : plans) {
    for (const OpenClLaunch &launch : plan.launches()) {
      for (size_t k = 0; k < launch.arguments.size(); ++k) {
        const OpenClLaunch::Argument &argument = launch.arguments[k];
        if (!argument.is_buffer || argument.operand.place != OpenClOperand::kTensor) continue;
        uses[roots_[static_cast<size_t>(argument.operand.index)]].emplace_back(launches_[at].kernel->kernel(),
                                                                               static_cast<cl_uint>(k));
      }
      ++at;
    }
  }
  std::map<int32_t, int> owners;  // root tensor -> number of inputs and outputs of the partition in its memory
  for (const std::vector<int32_t> *side : {&part_.inputs, &part_.outputs}) {
    for (const int32_t tensor : *side) ++owners[roots_[static_cast<size_t>(tensor)]];
  }
  const auto border = [&](const std::vector<int32_t> &tensors) {
    std::vector<OpenClBorder::Tensor> made;
    for (const int32_t tensor : tensors) {
      const int32_t root = roots_[static_cast<size_t>(tensor)];
      const size_t bytes = static_cast<size_t>(BytesOf(part_.tensors[static_cast<size_t>(tensor)].value));
      const bool may_share = device_->shares_memory() && owners[root] == 1 && !uses[root].empty();
      made.push_back({bytes, MemoryOfTensor(tensor).memory, may_share, uses[root]});
    }
    return made;
  };
  border_ = OpenClBorder(border(part_.inputs), border(part_.outputs));
}

Status OpenClPart::Enqueue(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  MSLITE_TRY(border_.Enter(*device_, inputs, outputs, &counts_));
  for (const ReadyLaunch &launch : launches_) {
    MSLITE_TRY(device_->Enqueue(*launch.kernel, launch.items, launch.group));
  }
  MSLITE_TRY(border_.Leave(*device_, outputs, &counts_));
  if (fault_memory_ == nullptr) return mindspore::kSuccess;
  counts_.copied_out_bytes += static_cast<int64_t>(met_.size());
  return OpenClStatus(device_->library().clEnqueueReadBuffer(device_->queue(), fault_memory_->memory(), CL_TRUE, 0,
                                                             met_.size(), met_.data(), 0, nullptr, nullptr),
                      "clEnqueueReadBuffer");
}

// The launches run asynchronously; the function waits once, at the end. It also waits after a failure, so that no
// command accesses the caller's memory after it returns.
Status OpenClPart::Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  Status status = Enqueue(inputs, outputs);
  const Status finished = OpenClStatus(device_->library().clFinish(device_->queue()), "clFinish");
  border_.End();
  if (status.IsOk()) status = finished;
  if (status.IsError()) device_->MarkFailed();
  if (status.IsOk()) status = CheckFaults();
  ++counts_.runs;
  return status;
}

// Fails if a node has reported a fault, such as an index out of range.
Status OpenClPart::CheckFaults() {
  const size_t step = faults_.empty() ? 0 : met_.size() / faults_.size();
  size_t at = 0;
  for (const auto &[node, buffer] : faults_) {
    cl_int value = 0;
    std::memcpy(&value, met_.data() + at, sizeof value);
    at += step;
    if (value == 0) continue;
    std::fill(met_.begin(), met_.end(), uint8_t{0});
    MSLITE_TRY(OpenClStatus(device_->library().clEnqueueWriteBuffer(device_->queue(), fault_memory_->memory(), CL_TRUE,
                                                                    0, met_.size(), met_.data(), 0, nullptr, nullptr),
                            "clEnqueueWriteBuffer"));
    return Fail(mindspore::kLiteInputParamInvalid, "node '" + part_.nodes[node].name + "': an index is out of range");
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
