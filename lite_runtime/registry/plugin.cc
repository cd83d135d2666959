#include "include/mslite/plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>

#include "api/log.h"
#include "model/message.h"
#include "registry/registry.h"

namespace mslite {
namespace {
#if UINTPTR_MAX > 0xffffffffu
using Header = Elf64_Ehdr;
using Segment = Elf64_Phdr;
#else
using Header = Elf32_Ehdr;
using Segment = Elf32_Phdr;
#endif

// Whether a segment of an ELF file lies beyond its end: touching it would end the process.
bool IsCutOff(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Header header;
  if (!file.seekg(0).read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Segment)) {
    return false;  // the linker says what it is
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  Segment segment;
  for (int i = 0; i < header.e_phnum; ++i) {
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment))) return true;
    if (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz) return true;
  }
  return false;
}
}  // namespace

mindspore::Status LoadPlugin(const std::string &path) {
  return Guard([&]() -> Status {
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    // Without a slash the linker would look for it where libraries are.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    const size_t before = RegistrationCount();
    if (void *loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); loaded != nullptr) {
      dlclose(loaded);  // it is loaded already, and stays
      return mindspore::kSuccess;
    }
    if (IsCutOff(file)) return Fail(mindspore::kLiteFileError, "plug-in '" + path + "' is cut off; copy it again");
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char *reason = dlerror();
      return Fail(mindspore::kLiteFileError,
                  "plug-in '" + path + "' cannot be loaded: " + (reason == nullptr ? "no reason is given" : reason));
    }
    if (RegistrationCount() == before) {
      Log(LogLevel::kWarning, "plug-in '" + path + "' registers no kernel that was not registered before");
    }
    return mindspore::kSuccess;
  });
}
}  // namespace mslite
