// run_model MODEL.ms OUTPUT_PREFIX THREADS INPUT.npy...: runs a model and writes its outputs as PREFIX_<i>.npy, for the
// tests that compare with recorded outputs. Prints one line per output: name and shape.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "include/api/model.h"
#include "npy.h"

int main(int argc, char **argv) {
  if (argc < 4) npy::Die("usage: run_model MODEL.ms OUTPUT_PREFIX THREADS INPUT.npy...");
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(std::atoi(argv[3]));
  if (std::getenv("INTER_OP") != nullptr) context->SetInterOpParallelNum(std::atoi(std::getenv("INTER_OP")));
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  if (auto status = model.Build(std::string(argv[1]), mindspore::kMindIR_Lite, context); !status)
    npy::Die(status.ToString());
  const std::vector<mindspore::MSTensor> own = model.GetInputs();
  if (static_cast<size_t>(argc - 4) != own.size()) npy::Die("the model has " + std::to_string(own.size()) + " inputs");
  std::vector<mindspore::MSTensor> inputs;
  for (int i = 4; i < argc; ++i) inputs.push_back(npy::Read(argv[i], own[static_cast<size_t>(i - 4)]));
  std::vector<mindspore::MSTensor> outputs;
  if (auto status = model.Predict(inputs, &outputs); !status) npy::Die(status.ToString());
  for (size_t i = 0; i < outputs.size(); ++i) {
    npy::Write(std::string(argv[2]) + "_" + std::to_string(i) + ".npy", outputs[i]);
    std::cout << outputs[i].Name();
    for (const int64_t dim : outputs[i].Shape()) std::cout << " " << dim;
    std::cout << "\n";
  }
  return 0;
}
