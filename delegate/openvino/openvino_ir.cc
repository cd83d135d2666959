#include "openvino/openvino_ir.h"

#include <algorithm>
#include <cstring>

namespace mslite {
namespace {
// Replaces characters that XML does not allow in names. Names are only for readers of the file.
std::string Plain(const std::string &name) {
  std::string plain = name;
  for (char &letter : plain) {
    const bool is_taken = letter >= ' ' && letter <= '~' && std::strchr("<>&\"'", letter) == nullptr;
    if (!is_taken) letter = '_';
  }
  return plain;
}

std::string Quoted(const char *name, const std::string &value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}
}  // namespace

std::string ListOf(const std::vector<int64_t> &numbers) {
  std::string list;
  for (const int64_t number : numbers) list += (list.empty() ? "" : ",") + std::to_string(number);
  return list;
}

OpenVinoValue OpenVinoIr::Layer(const char *type, const char *opset, const std::vector<OpenVinoValue> &inputs,
                                const Attributes &attributes, int32_t outputs) {
  const int32_t id = count_++;
  const auto first = static_cast<int32_t>(inputs.size());  // the ports of outputs follow those of inputs
  layers_ += "<layer" + Quoted("id", std::to_string(id)) +
             Quoted("name", Plain(node_) + "/" + type + "_" + std::to_string(id)) + Quoted("type", type) +
             Quoted("version", opset) + ">";
  if (!attributes.empty()) {
    layers_ += "<data";
    for (const auto &[name, value] : attributes) layers_ += Quoted(name, value);
    layers_ += "/>";
  }
  if (!inputs.empty()) layers_ += "<input>";
  for (int32_t i = 0; i < first; ++i) {
    const OpenVinoValue &input = inputs[static_cast<size_t>(i)];
    layers_ += "<port" + Quoted("id", std::to_string(i)) + "/>";
    edges_ += "<edge" + Quoted("from-layer", std::to_string(input.layer)) +
              Quoted("from-port", std::to_string(input.port)) + Quoted("to-layer", std::to_string(id)) +
              Quoted("to-port", std::to_string(i)) + "/>\n";
  }
  if (!inputs.empty()) layers_ += "</input>";
  if (outputs > 0) layers_ += "<output>";
  // OpenVINO infers shapes and types of outputs, but its reader requires an entry for the type.
  for (int32_t i = 0; i < outputs; ++i) {
    layers_ += "<port" + Quoted("id", std::to_string(first + i)) + Quoted("precision", "UNSPECIFIED") + "/>";
  }
  if (outputs > 0) layers_ += "</output>";
  layers_ += "</layer>\n";
  return {id, first};
}

OpenVinoValue OpenVinoIr::Parameter(const char *type, const Dims &dims) {
  return Layer("Parameter", "opset1", {}, {{"shape", ListOf(dims)}, {"element_type", type}}, 1);
}

OpenVinoValue OpenVinoIr::Constant(const char *type, const Dims &dims, const void *contents, size_t bytes) {
  constexpr size_t kAlignment = 64;  // for vector instructions
  weights_.resize((weights_.size() + kAlignment - 1) / kAlignment * kAlignment);
  const size_t offset = weights_.size();
  weights_.resize(offset + std::max<size_t>(bytes, 1));  // OpenVINO rejects an empty file
  if (bytes != 0) std::memcpy(weights_.data() + offset, contents, bytes);
  const Attributes attributes = {{"element_type", type},
                                 {"shape", ListOf(dims)},
                                 {"offset", std::to_string(offset)},
                                 {"size", std::to_string(bytes)}};
  return Layer("Const", "opset1", {}, attributes, 1);
}

void OpenVinoIr::Result(OpenVinoValue value) { Layer("Result", "opset1", {value}, {}, 0); }

std::string OpenVinoIr::Text() const {
  return "<?xml version=\"1.0\"?>\n<net name=\"mslite\" version=\"11\">\n<layers>\n" + layers_ +
         "</layers>\n<edges>\n" + edges_ + "</edges>\n</net>\n";
}
}  // namespace mslite
