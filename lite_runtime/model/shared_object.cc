#include "model/shared_object.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace mslite {
namespace {
#if UINTPTR_MAX > 0xffffffffu
using Header = Elf64_Ehdr;
using Segment = Elf64_Phdr;
#else
using Header = Elf32_Ehdr;
using Segment = Elf32_Phdr;
#endif
}  // namespace

bool IsTruncatedElf(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Header header;
  if (!file.seekg(0).read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Segment)) {
    return false;  // dlopen reports the error
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  Segment segment;
  for (int i = 0; i < header.e_phnum; ++i) {
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment))) return true;
    if (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz) return true;
  }
  return false;
}
}  // namespace mslite
