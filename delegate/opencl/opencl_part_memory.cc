// The device memory of a partition: tensors, constants, and the faults that its launches report.
#include <algorithm>

#include "model/message.h"
#include "opencl/opencl_part.h"
#include "plan/memory.h"

namespace mslite {
// Returns the root of each tensor: the tensor that has its memory. Aliases use the memory of another tensor.
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

// Lays out the arena. Tensors with overlapping lifetimes do not overlap in memory.
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
  std::map<int32_t, Life> lives;  // lifetimes of images
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
  if (bytes < 0) return Fail(mindspore::kLiteMemoryFailed, "the tensors do not fit into the memory of the device");
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

// Creates the images. An image is reused for a later tensor with the same shape and form. A step never writes an image
// that it reads.
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
  std::sort(in_order.begin(), in_order.end(), [](const auto &a, const auto &b) {
    return a.second.first != b.second.first ? a.second.first < b.second.first : a.first < b.first;
  });
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

// Creates the fault flags in one buffer, so that one copy reads all of them.
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

// Uploads a constant of the model that a launch reads unchanged, or that is an alias of an output.
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

// Uploads the constants of the plans, and the constants of the model that launches read unchanged.
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
}  // namespace mslite
