// Comparison of outputs with expected outputs, with the rules of MindSpore Lite.
#ifndef MSLITE_BENCHMARK_ACCURACY_H_
#define MSLITE_BENCHMARK_ACCURACY_H_

#include <map>
#include <string>
#include <vector>

#include "flags.h"
#include "include/api/model.h"

namespace mslite::benchmark {

struct ExpectedTensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

// Reads a --benchmarkDataFile. It has two lines for each output: `name rank d0 d1 ...`, and the values.
std::string ReadExpected(const std::string &path, std::map<std::string, ExpectedTensor> *expected);

// Converts the elements of a numeric tensor to float. Returns an error message, or "".
std::string AsFloats(const mindspore::MSTensor &tensor, std::vector<float> *values);

// Prints the first elements of each input, as MindSpore Lite does before a comparison.
void PrintInputs(const std::vector<mindspore::MSTensor> &inputs);

// Returns the mean relative error of the elements that differ; negative if a value is not finite.
double MeanBias(const std::vector<float> &got, const std::vector<float> &expected);

// Compares outputs and prints the report of MindSpore Lite. Returns "" if all thresholds are met, else a message.
std::string CompareOutputs(const Flags &flags, const std::vector<mindspore::MSTensor> &outputs,
                           const std::map<std::string, ExpectedTensor> &expected);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_ACCURACY_H_
