#include "opencl/opencl_counts.h"

#include <cstdlib>
#include <fstream>

#include "model/message.h"

namespace mslite {
namespace {
const char *FileOfCounts() { return std::getenv("MSLITE_OPENCL_COUNTS"); }

std::string Quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + "\"";
}
}  // namespace

std::string OpenClCounts::Text(const std::string &device) const {
  std::string text = "{\"device\": " + Quoted(device);
  const auto add = [&](const char *name, int64_t value) {
    text += Format(", \"%s\": %lld", name, static_cast<long long>(value));
  };
  add("nodes", nodes);
  add("launches", launches);
  add("loaded_bytes", loaded_bytes);
  add("stored_bytes", stored_bytes);
  add("operand_bytes", operand_bytes);
  add("border_bytes", border_bytes);
  add("flops", flops);
  add("least_flops", least_flops);
  add("arena_bytes", arena_bytes);
  add("constant_bytes", constant_bytes);
  add("copied_in_bytes", copied_in_bytes);
  add("copied_out_bytes", copied_out_bytes);
  add("shared_bytes", shared_bytes);
  add("runs", runs);
  add("programs_compiled", builds.compiled);
  add("programs_loaded", builds.loaded);
  text += Format(", \"program_seconds\": %.6f, \"kernels\": {", builds.seconds);
  const char *separator = "";
  for (const auto &[name, launched] : kernels) {
    text += separator + Quoted(name) +
            Format(": {\"launches\": %lld, \"bytes\": %lld, \"flops\": %lld}", static_cast<long long>(launched.count),
                   static_cast<long long>(launched.items_bytes), static_cast<long long>(launched.flops));
    separator = ", ";
  }
  return text + "}}\n";
}

bool WantsOpenClCounts() { return FileOfCounts() != nullptr; }

void WriteOpenClCounts(const OpenClCounts &counts, const std::string &device) {
  std::ofstream(FileOfCounts(), std::ios::app) << counts.Text(device);
}
}  // namespace mslite
