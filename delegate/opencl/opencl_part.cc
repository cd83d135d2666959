#include "opencl/opencl_part.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "model/message.h"
#include "opencl/opencl_attention.h"
#include "opencl/opencl_fusion.h"
#include "plan/memory.h"
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
    int64_t left = CountFlops(plans.back().node());  // done by the first launch, unless launches say what they do
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

// Aliases have the memory of the tensor that they show.
std::vector<int32_t> OpenClPart::Roots(const std::vector<OpenClPlan> &plans) const {
  std::vector<int32_t> roots(part_.tensors.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<int32_t>(i);
  for (size_t i = 0; i < plans.size(); ++i) {
    const Part::Node &node = part_.nodes[i];
    for (const auto &[input, output] : plans[i].aliases()) {
      roots[static_cast<size_t>(node.outputs[static_cast<size_t>(output)])] =
          roots[static_cast<size_t>(node.inputs[static_cast<size_t>(input)])];
    }
  }
  return roots;
}

// Tensors that live at the same time get memory of their own.
Status OpenClPart::LayOut(const std::vector<OpenClPlan> &plans) {
  const auto count = static_cast<int32_t>(plans.size());
  std::vector<ArenaBuffer> buffers;
  tensor_pieces_.clear();
  scratch_pieces_.assign(plans.size(), {});
  const auto alignment = static_cast<int64_t>(std::max(device_->limits().alignment, size_t{64}));
  const auto add = [&](int64_t bytes, int32_t first) {
    ArenaBuffer buffer;
    buffer.size = RoundUp(std::max<int64_t>(bytes, 1), alignment);
    buffer.first = first;
    buffer.last = {first};
    buffers.push_back(buffer);
    return buffers.size() - 1;
  };
  const int64_t scratch_size = BytesPerElement(storage_->scratch_form(), MSLITE_FLOAT32);
  std::map<int32_t, Life> lives;  // of images
  const auto use = [&](int32_t tensor, int32_t step) {
    const int32_t root = roots_[static_cast<size_t>(tensor)];
    const mslite_tensor &value = part_.tensors[static_cast<size_t>(root)].value;
    if (value.data != nullptr) return;
    if (images_.OfTensor(root) != nullptr) {
      const auto life = lives.emplace(root, Life{step, step}).first;
      life->second.last = step;
      return;
    }
    const auto [place, is_new] = tensor_pieces_.emplace(root, 0);
    const int64_t bytes = CountOf(value) * BytesPerElement(forms_[static_cast<size_t>(root)], value.type);
    if (is_new) place->second = add(bytes, step);
    std::vector<int32_t> &last = buffers[place->second].last;
    last[0] = std::max(last[0], step);
  };
  for (const int32_t input : part_.inputs) use(input, 0);
  for (int32_t step = 0; step < count; ++step) {
    for (const OpenClLaunch &launch : plans[static_cast<size_t>(step)].launches()) {
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (argument.is_buffer && argument.operand.place == OpenClOperand::kTensor)
          use(argument.operand.index, step + 1);
      }
    }
    for (const int64_t numbers : plans[static_cast<size_t>(step)].scratch()) {
      scratch_pieces_[static_cast<size_t>(step)].push_back(add(numbers * scratch_size, step + 1));
    }
  }
  for (const int32_t output : part_.outputs) use(output, count + 1);
  MSLITE_TRY(LayOutImages(lives));
  const int64_t bytes = LayOutArena(StepOrder::Linear(), &buffers);
  if (bytes < 0) return Fail(mindspore::kLiteMemoryFailed, "the tensors do not fit into memory");
  counts_.arena_bytes = bytes;
  pieces_.clear();
  arena_.reset();
  MSLITE_TRY(device_->MakeBuffer(static_cast<size_t>(bytes), &arena_));
  for (const ArenaBuffer &buffer : buffers) {
    MSLITE_TRY(device_->MakeSubBuffer(*arena_, static_cast<size_t>(buffer.offset), static_cast<size_t>(buffer.size),
                                      &pieces_.emplace_back()));
  }
  return mindspore::kSuccess;
}

// An image that no tensor needs any more is the next one's of its shape and form. Those that a step reads are not those
// that it writes.
Status OpenClPart::LayOutImages(const std::map<int32_t, Life> &lives) {
  struct Place {
    OpenClImageShape shape;
    OpenClForm form;
    int32_t free_after;
  };
  std::vector<Place> places;
  tensor_images_.clear();
  image_memory_.clear();
  std::vector<std::pair<int32_t, Life>> in_order(lives.begin(), lives.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto &a, const auto &b) { return a.second.first < b.second.first; });
  for (const auto &[root, life] : in_order) {
    const OpenClImageShape &shape = *images_.OfTensor(root);
    const OpenClForm form = forms_[static_cast<size_t>(root)];
    const int32_t first = life.first;
    auto place = std::find_if(places.begin(), places.end(), [&](const Place &each) {
      return each.shape == shape && each.form == form && each.free_after < first;
    });
    if (place == places.end()) {
      MSLITE_TRY(
          device_->MakeImage(shape.width, shape.height, form == OpenClForm::kHalf, &image_memory_.emplace_back()));
      place = places.insert(places.end(), {shape, form, 0});
    }
    place->free_after = life.last;
    tensor_images_[root] = static_cast<size_t>(place - places.begin());
  }
  return mindspore::kSuccess;
}

Status OpenClPart::Upload(const void *contents, size_t bytes, std::unique_ptr<OpenClBuffer> *buffer) const {
  MSLITE_TRY(device_->MakeBuffer(bytes, buffer));
  if (bytes == 0) return mindspore::kSuccess;
  return OpenClStatus(device_->library().clEnqueueWriteBuffer(device_->queue(), (*buffer)->memory(), CL_TRUE, 0, bytes,
                                                              contents, 0, nullptr, nullptr),
                      "clEnqueueWriteBuffer");
}

// One piece of memory for all of them, so that one copy brings them back.
Status OpenClPart::MakeFaults(const std::vector<OpenClPlan> &plans) {
  faults_.clear();
  fault_memory_.reset();
  std::vector<size_t> nodes;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].has_fault()) nodes.push_back(i);
  }
  const size_t step = std::max(device_->limits().alignment, sizeof(cl_int));
  met_.assign(nodes.size() * step, 0);
  if (nodes.empty()) return mindspore::kSuccess;
  MSLITE_TRY(Upload(met_.data(), met_.size(), &fault_memory_));
  for (size_t i = 0; i < nodes.size(); ++i) {
    MSLITE_TRY(device_->MakeSubBuffer(*fault_memory_, i * step, sizeof(cl_int), &faults_[nodes[i]]));
  }
  return mindspore::kSuccess;
}

Status OpenClPart::Store(const std::vector<float> &numbers, OpenClForm form, const OpenClImageShape *image,
                         Stored *stored) const {
  stored->form = form;
  stored->shape = image == nullptr ? OpenClImageShape() : *image;
  std::vector<uint8_t> rounded;
  if (form == OpenClForm::kHalf) rounded = RoundToHalf(numbers.data(), numbers.size());
  const void *contents = form == OpenClForm::kHalf ? static_cast<const void *>(rounded.data()) : numbers.data();
  const size_t size = form == OpenClForm::kHalf ? rounded.size() : numbers.size() * sizeof(float);
  if (image == nullptr) return Upload(contents, size, &stored->buffer);
  MSLITE_TRY(device_->MakeImage(image->width, image->height, form == OpenClForm::kHalf, &stored->buffer));
  const std::array<size_t, 3> origin = {0, 0, 0};
  const std::array<size_t, 3> region = {image->width, image->height, 1};
  return OpenClStatus(
      device_->library().clEnqueueWriteImage(device_->queue(), stored->buffer->memory(), CL_TRUE, origin.data(),
                                             region.data(), 0, 0, contents, 0, nullptr, nullptr),
      "clEnqueueWriteImage");
}

// A constant of the model that a launch reads as it is, or that is an output by another name.
Status OpenClPart::UploadWeight(int32_t root) {
  const auto index = static_cast<size_t>(root);
  const mslite_tensor &value = part_.tensors[index].value;
  if (value.data == nullptr) return mindspore::kSuccess;
  const OpenClImageShape *image = images_.OfTensor(root);
  Stored &weight = weights_[root];
  const bool is_there = weight.buffer != nullptr && weight.form == forms_[index] &&
                        weight.shape == (image == nullptr ? OpenClImageShape() : *image);
  if (is_there) return mindspore::kSuccess;
  if (value.type == MSLITE_FLOAT32) return Store(RealsOf(value), forms_[index], image, &weight);
  return Upload(value.data, static_cast<size_t>(BytesOf(value)), &weight.buffer);
}

// Those of the model that a launch reads as they are, and those that the operators have made.
Status OpenClPart::UploadConstants(const std::vector<OpenClPlan> &plans) {
  constants_.clear();
  MSLITE_TRY(MakeFaults(plans));
  for (const OpenClPlan &plan : plans) {
    std::vector<Stored> &made = constants_.emplace_back();
    for (const OpenClConstant &constant : plan.constants()) {
      Stored &stored = made.emplace_back();
      if (constant.weights.empty()) {
        MSLITE_TRY(Upload(constant.bytes.data(), constant.bytes.size(), &stored.buffer));
        continue;
      }
      const OpenClImageShape *image = images_.OfConstant(constants_.size() - 1, static_cast<int32_t>(made.size()) - 1);
      MSLITE_TRY(Store(constant.weights, storage_->FormOfWeights(constant.weights), image, &stored));
    }
    for (const OpenClLaunch &launch : plan.launches()) {
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (!argument.is_buffer || argument.operand.place != OpenClOperand::kTensor) continue;
        MSLITE_TRY(UploadWeight(roots_[static_cast<size_t>(argument.operand.index)]));
      }
    }
  }
  for (const int32_t output : part_.outputs) MSLITE_TRY(UploadWeight(roots_[static_cast<size_t>(output)]));
  return mindspore::kSuccess;
}

OpenClPart::Memory OpenClPart::MemoryOfTensor(int32_t tensor) const {
  const int32_t root = roots_[static_cast<size_t>(tensor)];
  const char *const type = OpenClType(part_.tensors[static_cast<size_t>(tensor)].value.type);
  const OpenClForm form = images_.OfTensor(root) != nullptr ? OpenClForm::kImage : forms_[static_cast<size_t>(root)];
  if (const auto weight = weights_.find(root); weight != weights_.end()) {
    return {weight->second.buffer->memory(), type, form};
  }
  if (form == OpenClForm::kImage) return {image_memory_[tensor_images_.at(root)]->memory(), type, form};
  return {pieces_[tensor_pieces_.at(root)]->memory(), type, form};
}

OpenClPart::Memory OpenClPart::MemoryOf(size_t node, const OpenClOperand &operand) const {
  const auto index = static_cast<size_t>(operand.index);
  switch (operand.place) {
    case OpenClOperand::kConstant: {
      const Stored &constant = constants_[node][index];
      const bool is_image = images_.OfConstant(node, operand.index) != nullptr;
      return {constant.buffer->memory(), "float", is_image ? OpenClForm::kImage : constant.form};
    }
    case OpenClOperand::kFault:
      return {faults_.at(node)->memory(), "int", OpenClForm::kArray};
    case OpenClOperand::kScratch:
      return {pieces_[scratch_pieces_[node][index]]->memory(), "float", storage_->scratch_form()};
    default:
      return MemoryOfTensor(operand.index);
  }
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

// What is measured computes with whatever the memory has: nothing in it is needed yet. Launches that may report a fault
// are left out. A choice that fails is none; one of another program's, or of a damaged file, is not taken.
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

// An output may have the memory of an input or a constant, or of another output; then no launch writes it, and it is
// copied from there.
void OpenClPart::MakeBorder(const std::vector<OpenClPlan> &plans) {
  std::map<int32_t, std::vector<std::pair<cl_kernel, cl_uint>>> uses;  // of roots
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
  std::map<int32_t, int> owners;  // how many tensors at the border have the root's memory
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

void OpenClPart::Count(const std::vector<OpenClPlan> &plans, const std::vector<OpenClChoice> &choices) {
  const auto bytes_of = [&](int32_t tensor) {
    const mslite_tensor &value = part_.tensors[static_cast<size_t>(tensor)].value;
    return CountOf(value) * BytesPerElement(MemoryOfTensor(tensor).form, value.type);
  };
  counts_.nodes = static_cast<int64_t>(plans.size());
  counts_.launches = static_cast<int64_t>(launches_.size());
  for (const int32_t input : part_.inputs) counts_.border_bytes += bytes_of(input);
  for (const int32_t output : part_.outputs) counts_.border_bytes += bytes_of(output);
  for (const auto &[tensor, weight] : weights_) counts_.constant_bytes += bytes_of(tensor);
  counts_.border_bytes += ConstantBytes(plans);
  size_t at = 0;
  for (size_t i = 0; i < plans.size(); ++i) {
    const OpenClPlan &plan = plans[i];
    for (size_t k = 0; k < plan.constants().size(); ++k) {
      const Extent extent = ExtentOf(i, plan, {OpenClOperand::kConstant, static_cast<int32_t>(k)});
      counts_.constant_bytes += extent.elements * extent.element_bytes;
    }
    for (const OpenClLaunch &launch : plan.launches()) CountLaunch(i, plan, launch, choices[at++]);
  }
}

// Of the constants that the nodes read: each once, and of a table that launches read as it is, no more than they touch.
int64_t OpenClPart::ConstantBytes(const std::vector<OpenClPlan> &plans) const {
  std::map<int32_t, int64_t> touched;  // of roots: elements
  for (const OpenClPlan &plan : plans) {
    for (const OpenClLaunch &launch : plan.launches()) {
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (!argument.is_buffer || argument.operand.place != OpenClOperand::kTensor || argument.touched < 0) continue;
        touched[roots_[static_cast<size_t>(argument.operand.index)]] += argument.touched + argument.touched_per_step;
      }
    }
  }
  std::set<int32_t> constants;
  for (const Part::Node &node : part_.nodes) {
    for (const int32_t input : node.inputs) constants.insert(roots_[static_cast<size_t>(input)]);
  }
  int64_t bytes = 0;
  for (const int32_t root : constants) {
    const mslite_tensor &value = part_.tensors[static_cast<size_t>(root)].value;
    if (value.data == nullptr) continue;
    const auto place = touched.find(root);
    const int64_t count = place == touched.end() ? CountOf(value) : std::min(place->second, CountOf(value));
    bytes += count * BytesPerElement(forms_[static_cast<size_t>(root)], value.type);
  }
  return bytes;
}

OpenClPart::Extent OpenClPart::ExtentOf(size_t node, const OpenClPlan &plan, const OpenClOperand &operand) const {
  const auto index = static_cast<size_t>(operand.index);
  const OpenClForm form = MemoryOf(node, operand).form;
  if (operand.place == OpenClOperand::kTensor) {
    const mslite_tensor &value = part_.tensors[index].value;
    return {CountOf(value), BytesPerElement(form, value.type)};
  }
  const int64_t bytes = BytesPerElement(form, MSLITE_FLOAT32);  // integers take as many
  if (operand.place == OpenClOperand::kScratch) return {plan.scratch()[index], bytes};
  const OpenClConstant &constant = plan.constants()[index];
  return {static_cast<int64_t>(constant.bytes.size() / sizeof(float) + constant.weights.size()), bytes};
}

void OpenClPart::CountLaunch(size_t node, const OpenClPlan &plan, const OpenClLaunch &launch,
                             const OpenClChoice &choice) {
  OpenClCounts::Launches &kernel = counts_.kernels[launch.file + "." + launch.function];
  const int64_t steps = launch.tile.define == nullptr ? 0 : (launch.tile.extent + choice.tile - 1) / choice.tile;
  std::set<std::pair<int32_t, int32_t>> seen;
  for (const OpenClLaunch::Argument &argument : launch.arguments) {
    const OpenClOperand &operand = argument.operand;
    if (!argument.is_buffer || operand.place == OpenClOperand::kFault) continue;
    const Extent extent = ExtentOf(node, plan, operand);
    const int64_t touched =
        argument.touched < 0 ? extent.elements : argument.touched + steps * argument.touched_per_step;
    const int64_t bytes = touched * extent.element_bytes;
    (argument.is_output ? counts_.stored_bytes : counts_.loaded_bytes) += bytes;
    kernel.items_bytes += bytes;
    if (seen.emplace(operand.place, operand.index).second) {
      counts_.operand_bytes += std::min(bytes, extent.elements * extent.element_bytes);
    }
  }
  ++kernel.count;
  kernel.flops += launch.operations;
  counts_.flops += launch.operations;
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

// The queue works while this computer goes on; it is waited for once, at the end. After a failure, too: then nothing is
// under way that reads or writes memory of the caller.
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

// Whether a node has met an impossible value.
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
    return Fail(mindspore::kLiteInputParamInvalid, "node '" + part_.nodes[node].name + "': an index is not there");
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
