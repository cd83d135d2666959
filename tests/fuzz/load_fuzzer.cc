// libFuzzer: any bytes as a `.ms` file. What loads is resized and run, within limits.
#include <cstdint>
#include <cstring>

#include "include/api/model.h"
#include "include/mslite/run_control.h"

namespace {
constexpr mslite::RunLimits kLimits = {200, 500, int64_t{64} << 20};
constexpr size_t kMostInput = 16 << 20;

void BuildAndRun(const void *data, size_t size) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  if (mslite::SetRunLimits(context, kLimits).IsError()) return;
  mindspore::Model model;
  if (model.Build(data, size, mindspore::kMindIR_Lite, context).IsError()) return;
  std::vector<mindspore::MSTensor> inputs = model.GetInputs();
  std::vector<std::vector<int64_t>> shapes;
  bool is_dynamic = false;
  for (const auto &input : inputs) {
    shapes.push_back(input.Shape());
    for (int64_t &dim : shapes.back()) {
      is_dynamic = is_dynamic || dim < 0;
      dim = dim < 0 ? 2 : dim;
    }
  }
  if (is_dynamic && model.Resize(inputs, shapes).IsError()) return;
  for (auto &input : inputs) {
    if (input.DataSize() > kMostInput || input.MutableData() == nullptr) return;
    std::memset(input.MutableData(), 0, input.DataSize());
  }
  std::vector<mindspore::MSTensor> outputs;
  (void)model.Predict(inputs, &outputs);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  BuildAndRun(data, size);
  return 0;
}
