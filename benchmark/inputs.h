// Fills the inputs of a model: from files, or with the original's reproducible random numbers.
#ifndef MSLITE_BENCHMARK_INPUTS_H_
#define MSLITE_BENCHMARK_INPUTS_H_

#include <string>
#include <vector>

#include "flags.h"
#include "include/api/model.h"

namespace mslite::benchmark {

// The shapes that --inputShapes or --inputShape ask for, one per model input; the model's own where none is given.
// On success the problem is empty.
std::string RequestedShapes(const Flags &flags, const std::vector<mindspore::MSTensor> &inputs,
                            std::vector<std::vector<int64_t>> *shapes);

// Loads --inDataFile or makes random data. Returns what is wrong, or "".
std::string FillInputs(const Flags &flags, std::vector<mindspore::MSTensor> *inputs);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_INPUTS_H_
