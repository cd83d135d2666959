// What input shapes that were not seen before cost: planning, and memory that stays.
#ifndef MSLITE_BENCHMARK_NEW_SHAPES_H_
#define MSLITE_BENCHMARK_NEW_SHAPES_H_

#include <string>

#include "flags.h"
#include "include/api/model.h"
#include "run_watch.h"

namespace mslite::benchmark {

// --loopCount times: adds --shapeStep to the shapes of the inputs, then resizes, and runs twice. Prints the times and
// the memory. `watch` may be null. Contents of the inputs are random. Returns what went wrong, or "".
std::string MeasureNewShapes(const Flags &flags, RunWatch *watch, mindspore::Model *model);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_NEW_SHAPES_H_
