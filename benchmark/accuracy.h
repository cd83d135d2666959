// Comparison of a model's outputs with expected values, by MindSpore Lite's rules.
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

// Reads a --benchmarkDataFile: for each output two lines, `name rank d0 d1 ...` and the values.
std::string ReadExpected(const std::string &path, std::map<std::string, ExpectedTensor> *expected);

// The elements of a numeric tensor as float. Returns what is wrong, or "".
std::string AsFloats(const mindspore::MSTensor &tensor, std::vector<float> *values);

// Prints the first elements of each input, as the original does before it compares.
void PrintInputs(const std::vector<mindspore::MSTensor> &inputs);

// Mean relative deviation of the elements that deviate at all; negative when an output is not finite.
double MeanBias(const std::vector<float> &got, const std::vector<float> &expected);

// Compares, prints the original's report, and returns "" when every threshold holds.
std::string CompareOutputs(const Flags &flags, const std::vector<mindspore::MSTensor> &outputs,
                           const std::map<std::string, ExpectedTensor> &expected);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_ACCURACY_H_
