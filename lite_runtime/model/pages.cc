#include "model/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace mslite {
namespace {
bool Holds(const Bytes &file, const uint8_t *begin, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(file.data());
  const auto place = reinterpret_cast<uintptr_t>(begin);
  return place >= first && place - first <= file.size() && bytes <= file.size() - (place - first);
}

// Copies and decrypted files cannot be read again from a file.
bool IsMapped(const Bytes &file) { return !file.directory().empty(); }

void LetGo(const uint8_t *begin, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t before = (page - address % page) % page;
  if (bytes <= before) return;
  const size_t whole = (bytes - before) / page * page;
  // This is only advice, which a system may ignore.
  if (whole > 0) madvise(const_cast<uint8_t *>(begin + before), whole, MADV_DONTNEED);
}
}  // namespace

void ReleasePages(const Graph &graph, const void *contents, size_t bytes) {
  const auto *begin = static_cast<const uint8_t *>(contents);
  if (graph.file != nullptr && IsMapped(*graph.file) && Holds(*graph.file, begin, bytes)) LetGo(begin, bytes);
  for (const auto &side : graph.side_files) {
    if (Holds(*side, begin, bytes)) LetGo(begin, bytes);
  }
}
}  // namespace mslite
