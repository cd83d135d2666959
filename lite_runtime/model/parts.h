// The parts of loading that only some models need. The library calls each through a table with one pointer, which is
// null if mslite-crop removed the part (cropper/crop.py).
#ifndef MSLITE_MODEL_PARTS_H
#define MSLITE_MODEL_PARTS_H

#include <cstdint>
#include <string>

#include "model/graph.h"

namespace mslite {
enum class Part : uint8_t { kUnpacking, kWeights, kIntegers, kTypes };
/// The names that the cropper uses: the table of a part is mslite_part_<name>.
constexpr const char *kPartNames[] = {"unpacking", "weights", "integers", "types"};

/// Records that the graph needs the part. `subject` is the constant or node that needs it. Errors: kLiteNotFindOp if
/// the part was cropped from this library.
Status RequirePart(Part part, bool is_there, const std::string &subject, Graph *graph);
}  // namespace mslite

#endif
