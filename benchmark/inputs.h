// The inputs of a model: shapes, and data from files or random data.
#ifndef MSLITE_BENCHMARK_INPUTS_H_
#define MSLITE_BENCHMARK_INPUTS_H_

#include <string>
#include <vector>

#include "flags.h"
#include "include/api/model.h"

namespace mslite::benchmark {

// Returns the shapes of --inputShapes or --inputShape, one for each input of the model; the default is the shape of the
// model. Returns an error message, or "".
std::string RequestedShapes(const std::string &by_position, const std::string &by_name,
                            const std::vector<mindspore::MSTensor> &inputs, std::vector<std::vector<int64_t>> *shapes);

// Resizes the model and prints the shapes, if they differ. Returns an error message, or "".
std::string ResizeTo(const std::vector<std::vector<int64_t>> &shapes, mindspore::Model *model);

// Fills a tensor with the reproducible random values of MindSpore Lite's program.
void Randomize(mindspore::MSTensor *tensor);

// Loads --inDataFile or generates random data. Returns an error message, or "".
std::string FillInputs(const Flags &flags, std::vector<mindspore::MSTensor> *inputs);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_INPUTS_H_
