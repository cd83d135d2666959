// Parts of loading that only some models need. The library reaches each through a table with one pointer, which is null
// where mslite-crop took the part out (cropper/crop.py).
#ifndef MSLITE_MODEL_PARTS_H
#define MSLITE_MODEL_PARTS_H

#include <cstdint>
#include <string>

#include "model/graph.h"

namespace mslite {
enum class Part : uint8_t { kUnpacking, kWeights, kIntegers, kTypes };
/// As the cropper knows them: the table is mslite_part_...
constexpr const char *kPartNames[] = {"unpacking", "weights", "integers", "types"};

/// Notes that the graph needs the part. `subject`: what of the graph does. Errors: kLiteNotFindOp where this library
/// was cropped and has it no more.
Status NeedPart(Part part, bool is_there, const std::string &subject, Graph *graph);
}  // namespace mslite

#endif
