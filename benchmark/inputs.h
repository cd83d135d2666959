// The inputs of a model: their shapes, and contents from files or random numbers.
#ifndef MSLITE_BENCHMARK_INPUTS_H_
#define MSLITE_BENCHMARK_INPUTS_H_

#include <string>
#include <vector>

#include "flags.h"
#include "include/api/model.h"

namespace mslite::benchmark {

// The shapes that --inputShapes or --inputShape ask for, one per model input; the model's own where none is given.
// On success the problem is empty.
std::string RequestedShapes(const std::string &by_position, const std::string &by_name,
                            const std::vector<mindspore::MSTensor> &inputs, std::vector<std::vector<int64_t>> *shapes);

// Brings the model to these shapes, and says so, where they are not its own. Returns what is wrong, or "".
std::string ResizeTo(const std::vector<std::vector<int64_t>> &shapes, mindspore::Model *model);

// The original's reproducible numbers for the element type of a tensor that has memory.
void Randomize(mindspore::MSTensor *tensor);

// Loads --inDataFile or makes random data. Returns what is wrong, or "".
std::string FillInputs(const Flags &flags, std::vector<mindspore::MSTensor> *inputs);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_INPUTS_H_
