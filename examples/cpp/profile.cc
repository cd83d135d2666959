// profile MODEL.ms: builds a model from a buffer, resizes its first dimension to 2 if the model supports it, and prints
// the time of each node. Uses only functions of MindSpore Lite's API: buffers, Resize and callbacks.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/serialization.h"

int main(int argc, const char **argv) {
  if (argc < 2) {
    std::cerr << "usage: profile MODEL.ms" << std::endl;
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Graph graph;
  if (auto status = mindspore::Serialization::Load(bytes.data(), bytes.size(), mindspore::kMindIR, &graph); !status) {
    std::cerr << "load failed: " << status << std::endl;
    return 1;
  }
  mindspore::Model model;
  if (auto status = model.Build(mindspore::GraphCell(graph), context); !status) {
    std::cerr << "build failed: " << status << std::endl;
    return 1;
  }

  auto inputs = model.GetInputs();
  std::vector<std::vector<int64_t>> dims;
  for (const auto &input : inputs) {
    dims.push_back(input.Shape());
    if (!dims.back().empty()) dims.back()[0] = 2;
  }
  if (auto status = model.Resize(inputs, dims); !status) {
    std::cout << "the model was not resized: " << status.GetErrDescription() << std::endl;
  }
  for (auto &input : inputs) static_cast<void>(input.MutableData());  // zeros

  std::chrono::steady_clock::time_point start;
  const mindspore::MSKernelCallBack before = [&start](const std::vector<mindspore::MSTensor> &,
                                                      const std::vector<mindspore::MSTensor> &,
                                                      const mindspore::MSCallBackParam &) {
    start = std::chrono::steady_clock::now();
    return true;
  };
  const mindspore::MSKernelCallBack after = [&start](const std::vector<mindspore::MSTensor> &,
                                                     const std::vector<mindspore::MSTensor> &outputs,
                                                     const mindspore::MSCallBackParam &node) {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    std::printf("%9.3f ms  %-24s %s (%lld elements)\n", time.count(), node.node_type.c_str(), node.node_name.c_str(),
                static_cast<long long>(outputs.empty() ? 0 : outputs[0].ElementNum()));
    return true;
  };
  std::vector<mindspore::MSTensor> outputs;
  if (auto status = model.Predict(inputs, &outputs, before, after); !status) {
    std::cerr << "predict failed: " << status << std::endl;
    return 1;
  }
  for (const auto &output : outputs) std::printf("output %s: %zu bytes\n", output.Name().c_str(), output.DataSize());
  return 0;
}
