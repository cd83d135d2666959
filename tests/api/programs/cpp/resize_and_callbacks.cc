// resize_and_callbacks MODEL.ms: another batch, and what happens around each node.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"

using mindspore::Context;
using mindspore::CPUDeviceInfo;
using mindspore::Model;
using mindspore::MSCallBackParam;
using mindspore::MSKernelCallBack;
using mindspore::MSTensor;

int main(int argc, const char **argv) {
  if (argc != 2) return 2;
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model;
  if (model.Build(std::string(argv[1]), mindspore::kMindIR_Lite, context) != mindspore::kSuccess) return 1;
  if (model.Build(std::string(argv[1]), mindspore::kMindIR_Lite, context) != mindspore::kLiteModelRebuild) return 1;

  std::vector<std::vector<int64_t>> new_shapes;
  for (const auto &input : model.GetInputs()) {
    auto shape = input.Shape();
    shape[0] = 3;
    new_shapes.push_back(shape);
  }
  if (model.Resize(model.GetInputs(), new_shapes).IsError()) return 1;
  if (model.Resize(model.GetInputs(), {}).IsOk()) return 1;

  int before_count = 0, after_count = 0;
  MSKernelCallBack before = [&](const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                const MSCallBackParam &info) {
    if (!inputs.empty() && !outputs.empty() && !info.node_name.empty()) ++before_count;
    return true;
  };
  MSKernelCallBack after = [&](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                               const MSCallBackParam &info) {
    if (!info.node_type.empty()) ++after_count;
    return true;
  };
  auto inputs = model.GetInputs();
  for (auto &input : inputs) {
    if (model.GetInputByTensorName(input.Name()) == nullptr) return 1;
    auto *data = static_cast<float *>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) data[i] = static_cast<float>(i % 5) / 4.0f;
  }
  std::vector<MSTensor> outputs;
  if (model.Predict(inputs, &outputs, before, after) != mindspore::kSuccess) return 1;
  if (model.Predict(before, after) != mindspore::kSuccess) return 1;
  if (before_count == 0 || before_count != after_count) return 1;

  for (const auto &name : model.GetOutputTensorNames()) {
    auto tensor = model.GetOutputByTensorName(name);
    if (tensor == nullptr || tensor.Shape()[0] != 3) return 1;
    std::cout << name;
    for (int64_t i = 0; i < tensor.ElementNum(); ++i) {
      std::cout << ' ' << static_cast<const float *>(tensor.Data().get())[i];
    }
    std::cout << std::endl;
  }
  return model.GetOutputByTensorName("there is none") == nullptr ? 0 : 1;
}
