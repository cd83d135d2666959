// run_on_openvino FOLDER...: runs the model.ms of each folder, with its input_<i>.npy, on OpenVINO's CPU device, for the
// Python tests. Writes output_<i>.npy and report.txt: a line for each node with the number of its part (-1: it is left
// to the library), its floating-point operations, its operator, its name and why it was left, with tabs between them.
// What fails goes to error.txt, and the next folder follows.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "engine/engine_delegate.h"
#include "npy.h"
#include "openvino/openvino_engine.h"

namespace {
using mindspore::MSTensor;

void WriteReport(const std::string &folder, const mslite::EngineDelegate &delegate) {
  std::ofstream report(folder + "/report.txt");
  for (const mslite::Placement &placement : delegate.placements()) {
    report << placement.part << "\t" << placement.flops << "\t" << placement.op << "\t" << placement.node << "\t"
           << placement.reason << "\n";
  }
}

mindspore::Status Run(const std::string &folder) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(2);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  // As the application's own delegate, the engine may be asked afterwards; and what it cannot run is an error.
  const auto delegate = std::make_shared<mslite::EngineDelegate>(std::make_shared<mslite::OpenVinoEngine>("CPU", 2));
  context->set_delegate(delegate);
  mindspore::Model model;
  MSLITE_TRY(model.Build(folder + "/model.ms", mindspore::kMindIR_Lite, context));
  std::vector<MSTensor> inputs;
  std::vector<std::vector<int64_t>> shapes;
  bool is_open = false;
  for (const MSTensor &own : model.GetInputs()) {
    inputs.push_back(npy::Read(folder + "/input_" + std::to_string(inputs.size()) + ".npy", own));
    shapes.push_back(inputs.back().Shape());
    is_open = is_open || own.Shape() != shapes.back();
  }
  if (is_open) MSLITE_TRY(model.Resize(model.GetInputs(), shapes));
  WriteReport(folder, *delegate);
  std::vector<MSTensor> outputs;
  MSLITE_TRY(model.Predict(inputs, &outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    npy::Write(folder + "/output_" + std::to_string(i) + ".npy", outputs[i]);
  }
  return mindspore::kSuccess;
}
}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string folder = argv[i];
    std::filesystem::remove(folder + "/error.txt");
    const mindspore::Status status = Run(folder);
    if (status != mindspore::kSuccess) std::ofstream(folder + "/error.txt") << status.GetErrDescription();
  }
  return 0;
}
