#include "model/graph.h"

#include "cropped.h"

#include <tuple>

namespace mslite {
bool Version::operator<(const Version &other) const {
  return std::tie(major, minor, patch) < std::tie(other.major, other.minor, other.patch);
}

std::string Describe(const Node &node) {
  const std::string op = node.custom_type.empty() ? OperatorName(node.op) : "Custom of type '" + node.custom_type + "'";
  return "node '" + node.name + "' (" + op + ")";
}

std::string CroppedText(const Graph &graph, const std::string &nodes) {
  return "file '" + graph.file->name() + "': this runtime was cropped for '" + mslite_cropped.models +
         "' and cannot run this model; crop one for it (mslite-crop --models=...), or take the whole runtime:" + nodes;
}

std::string DimsText(const int64_t *dims, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) {
    text += i == 0 ? "" : ", ";
    text += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}
}  // namespace mslite
