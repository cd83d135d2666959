#include "opencl/opencl_part.h"

#include <algorithm>

#include "model/message.h"
#include "plan/memory.h"

namespace mslite {
Status OpenClPart::Prepare() {
  launches_.clear();
  std::vector<std::unique_ptr<Part::Call>> calls;
  std::vector<OpenClPlan> plans;
  calls.reserve(part_.nodes.size());
  plans.reserve(part_.nodes.size());
  for (const Part::Node &node : part_.nodes) {
    calls.push_back(std::make_unique<Part::Call>(part_, node));
    const OpenClOperator *entry = FindOpenClOperator(node.op);
    const std::string reason = entry == nullptr ? "no kernel" : entry->why_not(calls.back()->node());
    if (!reason.empty()) return Fail(mindspore::kLiteNotSupport, "node '" + node.name + "': " + reason);
    plans.emplace_back(calls.back()->node(), node.inputs, node.outputs);
    entry->plan(&plans.back());
  }
  roots_ = Roots(plans);
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
    const Part::Node &node = part_.nodes[static_cast<size_t>(step)];
    for (const int32_t input : node.inputs) use(input, step + 1);
    for (const int32_t output : node.outputs) use(output, step + 1);
    for (const int64_t numbers : plans[static_cast<size_t>(step)].scratch()) {
      scratch_pieces_[static_cast<size_t>(step)].push_back(add(numbers * scratch_size, step + 1));
    }
  }
  for (const int32_t output : part_.outputs) use(output, count + 1);
  MSLITE_TRY(LayOutImages(lives));
  const int64_t bytes = LayOutArena(StepOrder::Linear(), &buffers);
  if (bytes < 0) return Fail(mindspore::kLiteMemoryFailed, "the tensors do not fit into memory");
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
  faults_.clear();
  for (const OpenClPlan &plan : plans) {
    const int32_t none = 0;
    if (plan.has_fault()) MSLITE_TRY(Upload(&none, sizeof none, &faults_[constants_.size()]));
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

Status OpenClPart::MakeLaunches(const std::vector<OpenClPlan> &plans) {
  const OpenClLibrary &library = device_->library();
  for (size_t i = 0; i < plans.size(); ++i) {
    for (const OpenClLaunch &launch : plans[i].launches()) {
      std::vector<Memory> memories;
      std::string defines;
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        memories.push_back(argument.is_buffer ? MemoryOf(i, argument.operand) : Memory());
        const Memory &memory = memories.back();
        if (!argument.name.empty()) defines += DefineOperand(argument.name, memory.type, memory.form);
      }
      ReadyLaunch ready = {nullptr, launch.global, launch.group};
      MSLITE_TRY(device_->MakeKernel(launch.file, defines + launch.defines, launch.function, &ready.kernel));
      for (size_t k = 0; k < launch.arguments.size(); ++k) {
        const OpenClLaunch::Argument &argument = launch.arguments[k];
        const void *value = &argument.integer;
        size_t size = sizeof argument.integer;
        if (argument.is_buffer) {
          value = &memories[k].memory;
          size = sizeof(cl_mem);
        } else if (argument.is_real) {
          value = &argument.real;
        }
        MSLITE_TRY(OpenClStatus(library.clSetKernelArg(ready.kernel->kernel(), static_cast<cl_uint>(k), size, value),
                                ("clSetKernelArg " + std::to_string(k) + " of " + launch.function).c_str()));
      }
      launches_.push_back(std::move(ready));
    }
  }
  return mindspore::kSuccess;
}

// Copies block: after a failure nothing is under way that reads or writes memory of the caller. Kernels that run on
// have buffers of their own.
Status OpenClPart::Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  const OpenClLibrary &library = device_->library();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int32_t root = roots_[static_cast<size_t>(part_.inputs[i])];
    const auto bytes = static_cast<size_t>(BytesOf(part_.tensors[static_cast<size_t>(root)].value));
    MSLITE_TRY(OpenClStatus(library.clEnqueueWriteBuffer(device_->queue(), pieces_[tensor_pieces_.at(root)]->memory(),
                                                         CL_TRUE, 0, bytes, inputs[i], 0, nullptr, nullptr),
                            "clEnqueueWriteBuffer"));
  }
  for (const ReadyLaunch &launch : launches_) {
    const std::array<size_t, 3> local = {launch.group, 1, 1};
    MSLITE_TRY(OpenClStatus(
        library.clEnqueueNDRangeKernel(device_->queue(), launch.kernel->kernel(), 3, nullptr, launch.global.data(),
                                       launch.group == 0 ? nullptr : local.data(), 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int32_t tensor = part_.outputs[i];
    const auto bytes = static_cast<size_t>(BytesOf(part_.tensors[static_cast<size_t>(tensor)].value));
    MSLITE_TRY(OpenClStatus(library.clEnqueueReadBuffer(device_->queue(), MemoryOfTensor(tensor).memory, CL_TRUE, 0,
                                                        bytes, outputs[i], 0, nullptr, nullptr),
                            "clEnqueueReadBuffer"));
  }
  std::map<size_t, cl_int> met;
  for (const auto &[node, buffer] : faults_) {
    MSLITE_TRY(OpenClStatus(library.clEnqueueReadBuffer(device_->queue(), buffer->memory(), CL_TRUE, 0, sizeof(cl_int),
                                                        &met[node], 0, nullptr, nullptr),
                            "clEnqueueReadBuffer"));
  }
  // A part without outputs, or whose outputs are constants, has waited for nothing.
  MSLITE_TRY(OpenClStatus(library.clFinish(device_->queue()), "clFinish"));
  for (const auto &[node, value] : met) {
    if (value == 0) continue;
    const cl_int none = 0;
    MSLITE_TRY(OpenClStatus(library.clEnqueueWriteBuffer(device_->queue(), faults_.at(node)->memory(), CL_TRUE, 0,
                                                         sizeof none, &none, 0, nullptr, nullptr),
                            "clEnqueueWriteBuffer"));
    return Fail(mindspore::kLiteInputParamInvalid, "node '" + part_.nodes[node].name + "': an index is not there");
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
