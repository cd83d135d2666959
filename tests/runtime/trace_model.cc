// trace_model MODEL.ms FOLDER CONTENTS INPUT.npy...: runs a model on one thread and writes its outputs as
// FOLDER/output_<i>.npy. Prints a line per step that ran, fields separated by tabs: operator, kernel, node, then each
// operand as "<" (read) or ">" (written), type number and name. With CONTENTS = 1 what step s writes as operand k is
// left in FOLDER/step_<s>_<k>.npy.
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "npy.h"

namespace {
struct Trace {
  std::string folder;
  bool keeps_contents = false;
  std::vector<std::string> lines;

  bool operator()(const std::vector<mindspore::MSTensor> &inputs, const std::vector<mindspore::MSTensor> &outputs) {
    std::string line;
    const auto add = [&line](const char *mark, const std::vector<mindspore::MSTensor> &tensors) {
      for (const auto &tensor : tensors) {
        line += std::string("\t") + mark + std::to_string(static_cast<int>(tensor.DataType())) + " " + tensor.Name();
      }
    };
    add("<", inputs);
    add(">", outputs);
    for (size_t k = 0; keeps_contents && k < outputs.size(); ++k) {
      npy::Write(folder + "/step_" + std::to_string(lines.size()) + "_" + std::to_string(k) + ".npy", outputs[k]);
    }
    lines.push_back(line);
    return true;
  }
};
}  // namespace

int main(int argc, char **argv) {
  if (argc < 4) npy::Die("usage: trace_model MODEL.ms FOLDER CONTENTS INPUT.npy...");
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  if (auto status = model.Build(std::string(argv[1]), mindspore::kMindIR_Lite, context); !status) {
    npy::Die(status.ToString());
  }
  std::vector<mindspore::MSTensor> inputs = model.GetInputs();
  if (static_cast<size_t>(argc - 4) != inputs.size()) {
    npy::Die("the model has " + std::to_string(inputs.size()) + " inputs");
  }
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = npy::Read(argv[i + 4], inputs[i]);
    shapes.push_back(inputs[i].Shape());
  }
  if (auto status = model.Resize(model.GetInputs(), shapes); !status) npy::Die(status.ToString());
  Trace trace;
  trace.folder = argv[2];
  trace.keeps_contents = std::strcmp(argv[3], "1") == 0;
  std::vector<mindspore::MSTensor> outputs;
  const mindspore::MSKernelCallBack after =
      [&trace](const std::vector<mindspore::MSTensor> &read, const std::vector<mindspore::MSTensor> &written,
               const mindspore::MSCallBackParam &) { return trace(read, written); };
  if (auto status = model.Predict(inputs, &outputs, nullptr, after); !status) npy::Die(status.ToString());
  for (size_t i = 0; i < outputs.size(); ++i) {
    npy::Write(trace.folder + "/output_" + std::to_string(i) + ".npy", outputs[i]);
  }
  mslite::PlanInfo info;
  if (auto status = mslite::InspectPlan(model, &info); !status) npy::Die(status.ToString());
  for (size_t i = 0; i < trace.lines.size(); ++i) {
    // Steps run in the order of the plan; in a model with control flow only their operands are told.
    const bool planned = info.steps.size() == trace.lines.size();
    std::cout << (planned ? info.steps[i].op + "\t" + info.steps[i].kernel + "\t" + info.steps[i].name : "\t\t")
              << trace.lines[i] << "\n";
  }
  return 0;
}
