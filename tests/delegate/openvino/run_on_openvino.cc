// run_on_openvino [--as-device | --device=NAME] [--gpu=first | --gpu=second] [--strict] FOLDER...: runs the model.ms of
// each folder, with its input_<i>.npy, on OpenVINO's CPU device, for the Python tests. Writes output_<i>.npy; what
// fails goes to error.txt, and the next folder follows. Without --as-device, what the engine cannot run is an error,
// and report.txt has a line for each node: the number of its part (-1: it is left to the library), its floating-point
// operations, its operator, its name and why it was left, with tabs between them. With it, or with another device of
// OpenVINO, the engine is named as a device of the context, and --strict forbids that the CPU runs what it cannot.
// --gpu adds a GPU in front of it or behind it; engines.txt has for each node where it runs, and its name.
// run_on_openvino --operators: the names of the operators that the engine has.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "engine/engine_delegate.h"
#include "include/mslite/inspect.h"
#include "model/names.h"
#include "npy.h"
#include "openvino/openvino_engine.h"
#include "openvino/openvino_plan.h"

namespace {
using mindspore::MSTensor;

std::string device_name;  // of the context; empty: none
std::string gpu_place;    // the same
bool is_strict = false;

void WriteReport(const std::string &folder, const mslite::EngineDelegate &delegate) {
  std::ofstream report(folder + "/report.txt");
  for (const mslite::Placement &placement : delegate.placements()) {
    report << placement.part << "\t" << placement.flops << "\t" << placement.op << "\t" << placement.node << "\t"
           << placement.reason << "\n";
  }
}

mindspore::Status WriteEngines(const std::string &folder, const mindspore::Model &model) {
  mslite::PlacementInfo info;
  MSLITE_TRY(mslite::InspectPlacement(model, &info));
  std::ofstream file(folder + "/engines.txt");
  for (const mslite::NodePlacement &node : info.nodes) {
    file << node.engine.substr(0, node.engine.find(" (")) << "\t" << node.node << "\n";
  }
  return mindspore::kSuccess;
}

mindspore::Status Run(const std::string &folder) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(2);
  context->SetFallback(!is_strict);
  // As the application's own delegate, the engine may be asked afterwards.
  std::shared_ptr<mslite::EngineDelegate> delegate;
  const auto gpu = std::make_shared<mindspore::GPUDeviceInfo>();
  if (gpu_place == "first") context->MutableDeviceInfo().push_back(gpu);
  if (!device_name.empty()) {
    auto device = std::make_shared<mindspore::CPUDeviceInfo>();
    device->SetProvider("openvino");
    device->SetProviderDevice(device_name);
    context->MutableDeviceInfo().push_back(device);
  } else {
    delegate = std::make_shared<mslite::EngineDelegate>(std::make_shared<mslite::OpenVinoEngine>("CPU", 2));
    context->set_delegate(delegate);
  }
  if (gpu_place == "second") context->MutableDeviceInfo().push_back(gpu);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
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
  if (delegate != nullptr) WriteReport(folder, *delegate);
  if (!gpu_place.empty()) MSLITE_TRY(WriteEngines(folder, model));
  std::vector<MSTensor> outputs;
  MSLITE_TRY(model.Predict(inputs, &outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    npy::Write(folder + "/output_" + std::to_string(i) + ".npy", outputs[i]);
  }
  return mindspore::kSuccess;
}

void PrintOperators() {
  constexpr int32_t kLast = 2000;  // beyond all numbers of operators
  for (int32_t op = 0; op < kLast; ++op) {
    if (mslite::FindOpenVinoOperator(op) != nullptr) std::cout << mslite::OperatorName(op) << "\n";
  }
}
}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string folder = argv[i];
    if (folder == "--operators") {
      PrintOperators();
    } else if (folder == "--as-device") {
      device_name = "CPU";
    } else if (folder.rfind("--device=", 0) == 0) {
      device_name = folder.substr(std::strlen("--device="));
    } else if (folder.rfind("--gpu=", 0) == 0) {
      gpu_place = folder.substr(std::strlen("--gpu="));
    } else if (folder == "--strict") {
      is_strict = true;
    } else {
      std::filesystem::remove(folder + "/error.txt");
      const mindspore::Status status = Run(folder);
      if (status != mindspore::kSuccess) std::ofstream(folder + "/error.txt") << status.GetErrDescription();
    }
  }
  return 0;
}
