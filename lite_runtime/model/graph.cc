#include "model/graph.h"

#include <tuple>

#include "model/cropping.h"

namespace mslite {
bool Version::operator<(const Version &other) const {
  return std::tie(major, minor, patch) < std::tie(other.major, other.minor, other.patch);
}

std::string Describe(const Node &node) {
  const std::string op = node.custom_type.empty() ? OperatorName(node.op) : "Custom of type '" + node.custom_type + "'";
  return "node '" + node.name + "' (" + op + ")";
}

std::string CroppedText(const Graph &graph, const std::string &nodes) {
  return "file '" + graph.file->name() + "': " + CroppingText() + " and cannot run this model; " + CroppingRemedy() +
         ":" + nodes;
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
