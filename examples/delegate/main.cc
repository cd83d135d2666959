// Runs a model on the CPU and with a delegate, and compares the outputs: run_delegate MODEL.ms
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "elementwise_delegate.h"
#include "include/api/context.h"
#include "include/api/model.h"

namespace {
bool Failed(const char *what, const mindspore::Status &status) {
  if (status.IsOk()) return false;
  std::fprintf(stderr, "%s: %s\n", what, status.GetErrDescription().c_str());
  return true;
}

// Runs the model with generated inputs and returns its first output.
bool Run(const std::string &path, const std::shared_ptr<mindspore::Delegate> &delegate, std::vector<float> *numbers) {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  if (delegate != nullptr) context->set_delegate(delegate);
  mindspore::Model model;
  if (Failed("build", model.Build(path, mindspore::kMindIR_Lite, context))) return false;
  std::vector<mindspore::MSTensor> inputs = model.GetInputs();
  for (mindspore::MSTensor &input : inputs) {
    if (input.DataType() != mindspore::DataType::kNumberTypeFloat32 || input.MutableData() == nullptr) {
      std::fprintf(stderr, "input '%s' is not float32, or has a dynamic shape: convert with --inputShape\n",
                   input.Name().c_str());
      return false;
    }
    for (int64_t i = 0; i < input.ElementNum(); ++i) {
      static_cast<float *>(input.MutableData())[i] = std::sin(static_cast<float>(i));
    }
  }
  std::vector<mindspore::MSTensor> outputs;
  if (Failed("run", model.Predict(inputs, &outputs))) return false;
  const auto *results = static_cast<const float *>(outputs[0].Data().get());
  numbers->assign(results, results + outputs[0].ElementNum());
  return true;
}
}  // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: run_delegate MODEL.ms\n");
    return 2;
  }
  const auto delegate = std::make_shared<ElementwiseDelegate>();
  std::vector<float> alone;
  std::vector<float> delegated;
  if (!Run(arguments[1], nullptr, &alone) || !Run(arguments[1], delegate, &delegated)) return 1;
  std::printf("the delegate runs %d nodes in %d partitions\n", delegate->kernels_taken(), delegate->subgraphs());
  for (size_t i = 0; i < alone.size(); ++i) {
    if (std::fabs(alone[i] - delegated[i]) <= 1e-5f * (1.0f + std::fabs(alone[i]))) continue;
    std::printf("result %zu is %g, and %g with the delegate\n", i, alone[i], delegated[i]);
    return 1;
  }
  std::printf("%zu values are equal to those of the CPU\n", alone.size());
  return 0;
}
