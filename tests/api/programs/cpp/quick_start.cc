// quick_start MODEL.ms INPUT.bin: a model from memory, an input from a file, the outputs as text.
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/status.h"
#include "include/api/types.h"

static std::vector<char> ReadFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

int main(int argc, const char **argv) {
  if (argc != 3) return 2;
  const std::vector<char> model_buf = ReadFile(argv[1]);

  auto context = std::make_shared<mindspore::Context>();
  auto &device_list = context->MutableDeviceInfo();
  auto device_info = std::make_shared<mindspore::CPUDeviceInfo>();
  device_info->SetEnableFP16(false);
  device_list.push_back(device_info);
  context->SetThreadNum(2);
  context->SetThreadAffinity(0);
  context->SetEnableParallel(false);

  auto *model = new mindspore::Model();
  auto ret = model->Build(model_buf.data(), model_buf.size(), mindspore::kMindIR, context);
  if (ret != mindspore::kSuccess) {
    std::cerr << "Build model failed: " << ret.ToString() << std::endl;
    delete model;
    return 1;
  }

  auto inputs = model->GetInputs();
  const std::vector<char> content = ReadFile(argv[2]);
  for (auto tensor : inputs) {
    auto *data = static_cast<char *>(tensor.MutableData());
    if (data == nullptr || content.size() != tensor.DataSize()) return 1;
    std::copy(content.begin(), content.end(), data);
  }

  std::vector<mindspore::MSTensor> outputs;
  ret = model->Predict(inputs, &outputs);
  if (ret.IsError()) {
    std::cerr << "Predict failed: " << static_cast<int>(ret) << std::endl;
    return 1;
  }
  for (const auto &tensor : outputs) {
    std::cout << tensor.Name();
    const auto *data = reinterpret_cast<const float *>(tensor.Data().get());
    for (int64_t i = 0; i < tensor.ElementNum(); ++i) std::cout << ' ' << data[i];
    std::cout << std::endl;
  }
  delete model;
  return 0;
}
