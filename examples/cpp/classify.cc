// classify MODEL.ms [INPUT.bin]: builds a model from a file, fills its inputs (from raw bytes, or with ones), runs it
// and prints the five largest values of the first output. Uses only functions of MindSpore Lite's API.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"

int main(int argc, const char **argv) {
  if (argc < 2) {
    std::cerr << "usage: classify MODEL.ms [INPUT.bin]" << std::endl;
    return 2;
  }
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(2);
  auto cpu = std::make_shared<mindspore::CPUDeviceInfo>();
  cpu->SetEnableFP16(false);
  context->MutableDeviceInfo().push_back(cpu);

  mindspore::Model model;
  if (auto status = model.Build(argv[1], mindspore::kMindIR_Lite, context); status != mindspore::kSuccess) {
    std::cerr << "build failed: " << status << std::endl;
    return 1;
  }

  std::ifstream file;
  if (argc > 2) file.open(argv[2], std::ios::binary);
  auto inputs = model.GetInputs();
  for (auto &input : inputs) {
    std::cout << "input " << input.Name() << ": " << input.ElementNum() << " elements" << std::endl;
    void *data = input.MutableData();
    if (data == nullptr) {
      std::cerr << "the shape of '" << input.Name() << "' is not fixed: call Resize first" << std::endl;
      return 1;
    }
    if (file.is_open()) {
      file.read(static_cast<char *>(data), static_cast<std::streamsize>(input.DataSize()));
    } else if (input.DataType() == mindspore::DataType::kNumberTypeFloat32) {
      std::fill_n(static_cast<float *>(data), input.ElementNum(), 1.0f);
    }
  }

  std::vector<mindspore::MSTensor> outputs;
  if (auto status = model.Predict(inputs, &outputs); status != mindspore::kSuccess) {
    std::cerr << "predict failed: " << status << std::endl;
    return 1;
  }
  const auto &output = outputs.front();
  if (output.DataType() != mindspore::DataType::kNumberTypeFloat32) {
    std::cout << "output " << output.Name() << ": " << output.DataSize() << " bytes" << std::endl;
    return 0;
  }
  const auto *values = static_cast<const float *>(output.Data().get());
  std::vector<int64_t> order(static_cast<size_t>(output.ElementNum()));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto shown = std::min<size_t>(5, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [values](int64_t a, int64_t b) { return values[a] > values[b]; });
  for (size_t i = 0; i < shown; ++i) std::cout << order[i] << ": " << values[order[i]] << std::endl;
  return 0;
}
