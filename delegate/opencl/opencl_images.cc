#include "opencl/opencl_images.h"

#include <algorithm>

namespace mslite {
namespace {
// The access pattern of all launches that use an operand.
struct Use {
  bool is_in_fours = true;
  int64_t row = 0;  // 0: no launch reads it by rows

  void Add(const OpenClLaunch::Argument &argument) {
    const OpenClAccessPattern &access = argument.access;
    const bool fits = access.row == 0 || row == 0 || access.row == row;
    is_in_fours = is_in_fours && access.is_in_fours && fits;
    row = std::max(row, access.row);
  }
};

bool ShapeOf(const Use &use, int64_t count, const OpenClDevice::Limits &limits, OpenClImageShape *shape) {
  if (!use.is_in_fours || use.row == 0 || use.row % 4 != 0 || count % use.row != 0) return false;
  *shape = {static_cast<size_t>(use.row / 4), static_cast<size_t>(count / use.row)};
  return shape->width <= limits.image_width && shape->height <= limits.image_height;
}
}  // namespace

OpenClImages::OpenClImages(const Part &part, const std::vector<OpenClPlan> &plans, const std::vector<int32_t> &roots,
                           const OpenClDevice::Limits &limits) {
  std::map<int32_t, Use> tensors;
  std::map<std::pair<size_t, int32_t>, Use> constants;
  const auto root_of = [&](int32_t tensor) { return roots[static_cast<size_t>(tensor)]; };
  for (size_t node = 0; node < plans.size(); ++node) {
    for (const OpenClLaunch &launch : plans[node].launches()) {
      std::vector<int32_t> written;
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (!argument.is_buffer) continue;
        const OpenClOperand &operand = argument.operand;
        if (operand.place == OpenClOperand::kConstant) constants[{node, operand.index}].Add(argument);
        if (operand.place != OpenClOperand::kTensor) continue;
        tensors[root_of(operand.index)].Add(argument);
        if (argument.is_output) written.push_back(root_of(operand.index));
      }
      // A kernel cannot read and write the same image.
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (!argument.is_buffer || argument.is_output || argument.operand.place != OpenClOperand::kTensor) continue;
        const int32_t root = root_of(argument.operand.index);
        if (std::find(written.begin(), written.end(), root) != written.end()) tensors[root].is_in_fours = false;
      }
    }
  }
  // Inputs and outputs of the partition are buffers, because they are copied from and to the host.
  for (const std::vector<int32_t> *border : {&part.inputs, &part.outputs}) {
    for (const int32_t tensor : *border) tensors[root_of(tensor)].is_in_fours = false;
  }
  OpenClImageShape shape;
  for (const auto &[root, use] : tensors) {
    const mslite_tensor &value = part.tensors[static_cast<size_t>(root)].value;
    if (value.type == MSLITE_FLOAT32 && ShapeOf(use, CountOf(value), limits, &shape)) tensors_[root] = shape;
  }
  for (const auto &[place, use] : constants) {
    const OpenClConstant &constant = plans[place.first].constants()[static_cast<size_t>(place.second)];
    const auto count = static_cast<int64_t>(constant.weights.size());
    if (count > 0 && use.row == constant.row && ShapeOf(use, count, limits, &shape)) constants_[place] = shape;
  }
}

const OpenClImageShape *OpenClImages::OfTensor(int32_t root) const {
  const auto found = tensors_.find(root);
  return found == tensors_.end() ? nullptr : &found->second;
}

const OpenClImageShape *OpenClImages::OfConstant(size_t node, int32_t index) const {
  const auto found = constants_.find({node, index});
  return found == constants_.end() ? nullptr : &found->second;
}
}  // namespace mslite
