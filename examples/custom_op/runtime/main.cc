// Runs a model with operators of a plug-in, and compares the output with expected values:
// run_custom_op MODEL.ms PLUGIN.so INPUT.bin EXPECTED.txt
//
// A program that is linked to the plug-in does not have to load it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/plugin.h"

namespace {
bool Failed(const char *what, const mindspore::Status &status) {
  if (status.IsOk()) return false;
  std::fprintf(stderr, "%s: %s\n", what, status.GetErrDescription().c_str());
  return true;
}

// Reads a file with two lines: name, rank and sizes; values.
std::vector<float> ReadExpected(const char *path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  std::getline(stream, line);
  std::istringstream numbers(line);
  return std::vector<float>(std::istream_iterator<float>(numbers), {});
}
}  // namespace

int main(int count, char **arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: run_custom_op MODEL.ms PLUGIN.so INPUT.bin EXPECTED.txt\n");
    return 2;
  }
  if (Failed("plug-in", mslite::LoadPlugin(arguments[2]))) return 1;
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  if (Failed("build", model.Build(arguments[1], mindspore::kMindIR_Lite, context))) return 1;

  std::ifstream file(arguments[3], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<mindspore::MSTensor> inputs = model.GetInputs();
  if (inputs.size() != 1 || inputs[0].DataSize() != bytes.size()) {
    std::fprintf(stderr, "%s: the input of the model does not have %zu bytes\n", arguments[3], bytes.size());
    return 1;
  }
  std::copy(bytes.begin(), bytes.end(), static_cast<char *>(inputs[0].MutableData()));
  std::vector<mindspore::MSTensor> outputs;
  if (Failed("run", model.Predict(inputs, &outputs))) return 1;

  const std::vector<float> expected = ReadExpected(arguments[4]);
  const auto *computed = static_cast<const float *>(outputs[0].Data().get());
  bool is_right = !expected.empty() && static_cast<size_t>(outputs[0].ElementNum()) == expected.size();
  for (size_t i = 0; is_right && i < expected.size(); ++i) {
    std::printf("%zu: %.6f, expected %.6f\n", i, computed[i], expected[i]);
    is_right = std::fabs(computed[i] - expected[i]) <= 1e-5f;
  }
  std::printf("%s\n", is_right ? "the values are correct" : "the values are WRONG");
  return is_right ? 0 : 1;
}
