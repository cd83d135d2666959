// libFuzzer: any bytes as a `.ms` file. What loads is resized and run, within limits.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>

#include "include/api/model.h"
#include "include/mslite/run_control.h"

namespace {
constexpr mslite::RunLimits kLimits = {200, 500, int64_t{2} << 20};
constexpr size_t kMaxInput = 1 << 20;

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
    if (input.DataSize() > kMaxInput || input.MutableData() == nullptr) return;
    std::memset(input.MutableData(), 0, input.DataSize());
  }
  std::vector<mindspore::MSTensor> outputs;
  (void)model.Predict(inputs, &outputs);
}
}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {
// Numbers of a file are little-endian and mostly aligned. Bytes that come or go spoil every offset behind them, so most
// changes leave everything in its place: a number that is special, a neighbor of the one before, or one from
// elsewhere.
void ChangeNumber(uint8_t *data, size_t size, std::mt19937 *draw) {
  constexpr int64_t kSpecial[] = {0,   1,   2,   3,   4,     7,         8,         -1,     -2,
                                  127, 128, 255, 256, 65535, INT32_MAX, INT32_MIN, 1 << 20};
  const size_t width = size_t{1} << (*draw)() % 4;
  if (size < width) return;
  const size_t at = (*draw)() % (size - width + 1) / width * width;
  uint64_t value = 0;
  std::memcpy(&value, data + at, width);
  switch ((*draw)() % 4) {
    case 0:
      value = static_cast<uint64_t>(kSpecial[(*draw)() % std::size(kSpecial)]);
      break;
    case 1:
      value += (*draw)() % 9 - 4;  // wraps around
      break;
    case 2:
      std::memcpy(&value, data + (*draw)() % (size - width + 1), width);
      break;
    default:
      value ^= uint64_t{1} << (*draw)() % (8 * width);
  }
  std::memcpy(data + at, &value, width);
}
}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed) {
  std::mt19937 draw(seed);
  if (size == 0 || draw() % 5 == 0) return LLVMFuzzerMutate(data, size, most);
  for (size_t count = 1 + draw() % 4; count > 0; --count) ChangeNumber(data, size, &draw);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  BuildAndRun(data, size);
  return 0;
}
