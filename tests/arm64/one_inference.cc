// `one_inference MODEL.ms [float16|float32 [OUT]]`: one inference between two marks, after one that warms up, for a
// plugin that counts what an emulated processor executes in between. Prints a checksum of the outputs, and writes them
// to a file where one is named.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "marks.h"

namespace {
// Seeded numbers that every build makes alike: in [-2, 2), or 0 and 1 as tokens and masks.
void Fill(mindspore::MSTensor tensor) {
  uint32_t state = 7;
  const auto next = [&state] { return (state = state * 1664525u + 1013904223u) >> 8; };
  if (tensor.DataType() == mindspore::DataType::kNumberTypeFloat32) {
    auto *numbers = static_cast<float *>(tensor.MutableData());
    for (int64_t i = 0; i < tensor.ElementNum(); ++i) numbers[i] = static_cast<float>(next()) / 4194304.0f - 2.0f;
  } else if (tensor.DataType() == mindspore::DataType::kNumberTypeInt8) {
    auto *numbers = static_cast<int8_t *>(tensor.MutableData());
    for (int64_t i = 0; i < tensor.ElementNum(); ++i) numbers[i] = static_cast<int8_t>(next());
  } else {
    std::memset(tensor.MutableData(), 0, tensor.DataSize());
    auto *bytes = static_cast<uint8_t *>(tensor.MutableData());
    const size_t size = tensor.DataSize() / static_cast<size_t>(tensor.ElementNum());
    for (int64_t i = 0; i < tensor.ElementNum(); ++i) bytes[static_cast<size_t>(i) * size] = 1;
  }
}
}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: one_inference MODEL.ms [float16|float32 [OUT]]\n");
    return 2;
  }
  auto context = std::make_shared<mindspore::Context>();
  auto cpu = std::make_shared<mindspore::CPUDeviceInfo>();
  cpu->SetEnableFP16(argc > 2 && std::strcmp(argv[2], "float16") == 0);
  context->MutableDeviceInfo().push_back(cpu);
  context->SetThreadNum(1);
  mindspore::Model model;
  auto status = model.Build(argv[1], mindspore::kMindIR_Lite, context);
  std::vector<mindspore::MSTensor> outputs;
  const auto inputs = model.GetInputs();
  for (const auto &input : inputs) Fill(input);
  if (status.IsOk()) status = model.Predict(inputs, &outputs);
  if (status.IsOk()) {
    MSLITE_MARK_BEGIN();
    status = model.Predict(inputs, &outputs);
    MSLITE_MARK_END();
  }
  if (status.IsError()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::FILE *file = argc > 3 ? std::fopen(argv[3], "wb") : nullptr;
  if (argc > 3 && file == nullptr) {
    std::fprintf(stderr, "%s cannot be written\n", argv[3]);
    return 1;
  }
  uint32_t crc = 0;
  for (auto &output : outputs) {
    const auto *bytes = static_cast<const uint8_t *>(output.MutableData());
    for (size_t i = 0; i < output.DataSize(); ++i) crc = crc * 31 + bytes[i];
    if (file != nullptr) std::fwrite(bytes, 1, output.DataSize(), file);
  }
  if (file != nullptr && std::fclose(file) != 0) return 1;
  std::printf("checksum %08x\n", crc);
  return 0;
}
