#include "model/parts.h"

namespace mslite {
namespace {
constexpr const char *kTexts[] = {"unpacking of constants", "float32 form of quantized constants",
                                  "rewriting of quantized integers", "casts between element types"};
}

Status RequirePart(Part part, bool is_there, const std::string &subject, Graph *graph) {
  graph->parts |= 1U << static_cast<uint32_t>(part);
  if (is_there) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotFindOp,
              CroppedText(*graph, "\n  " + subject + ": it has no " + kTexts[static_cast<size_t>(part)]));
}
}  // namespace mslite
