// Builds and runs each `.ms` file given on the command line, each in a process of its own, and prints for every file
// one line: exit status or signal, milliseconds of processor time, peak memory in KiB, and what the runtime said.
#include <string>
#include <vector>

#include "each_file.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/run_control.h"

namespace {

using mslite::test::Finish;
using mslite::test::kRefused;

// As a program would that opens untrusted files.
constexpr mslite::RunLimits kLimits = {100000, 0, int64_t{64} << 20};

// Zeros first, then anything: 0xFF is NaN and -1, too.
void Fill(mindspore::MSTensor *input, int round) {
  auto *bytes = static_cast<unsigned char *>(input->MutableData());
  for (size_t i = 0; i < input->DataSize(); ++i) {
    bytes[i] = round == 0 ? 0 : round == 1 ? 0xFF : static_cast<unsigned char>((i * 2654435761U) >> 13);
  }
}

// Unknown dimensions become 2. The message is that of the first run.
int BuildAndRun(const char *path, int report) {
  auto context = std::make_shared<mindspore::Context>();
  if (mslite::SetRunLimits(context, kLimits).IsError()) return 2;
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  mindspore::Status status = model.Build(path, mindspore::kMindIR_Lite, context);
  if (status.IsError()) return Finish(report, kRefused, status.ToString());
  std::vector<mindspore::MSTensor> inputs = model.GetInputs();
  std::vector<std::vector<int64_t>> shapes;
  bool dynamic = false;
  for (const auto &input : inputs) {
    shapes.push_back(input.Shape());
    for (int64_t &dim : shapes.back()) {
      dynamic = dynamic || dim < 0;
      dim = dim < 0 ? 2 : dim;
    }
  }
  if (dynamic) {
    status = model.Resize(inputs, shapes);
    if (status.IsError()) return Finish(report, kRefused, status.ToString());
  }
  mindspore::Status first;
  for (int round = 0; round < 3; ++round) {
    for (auto &input : inputs) {
      if (input.MutableData() == nullptr) return Finish(report, kRefused, "no memory for input " + input.Name());
      if (input.DataType() != mindspore::DataType::kObjectTypeString) Fill(&input, round);
    }
    std::vector<mindspore::MSTensor> outputs;
    status = model.Predict(inputs, &outputs);
    if (round == 0) first = status;
  }
  return first.IsError() ? Finish(report, kRefused, first.ToString()) : Finish(report, 0, "ran");
}

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) mslite::test::InProcess(argv[i], BuildAndRun);
  return 0;
}
