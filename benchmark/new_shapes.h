// Measures new input shapes: the time of planning, and the memory that stays allocated.
#ifndef MSLITE_BENCHMARK_NEW_SHAPES_H_
#define MSLITE_BENCHMARK_NEW_SHAPES_H_

#include <string>

#include "flags.h"
#include "include/api/model.h"
#include "run_watch.h"

namespace mslite::benchmark {

// Repeats --loopCount times: adds --shapeStep to the input shapes, resizes the model, and runs it twice with random
// inputs. Prints times and memory. `watch` may be null. Returns an error message, or "".
std::string MeasureNewShapes(const Flags &flags, RunWatch *watch, mindspore::Model *model);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_NEW_SHAPES_H_
