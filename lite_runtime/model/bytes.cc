#include "model/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "model/wipe.h"

namespace mslite {
namespace {
// The largest object: differences of its addresses must not overflow.
constexpr uint64_t kLargest = PTRDIFF_MAX;

const auto kMachineBytes = static_cast<size_t>(
    std::min(static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), kLargest));
}  // namespace

size_t MachineBytes() { return kMachineBytes; }

void *AlignedAllocate(uint64_t wanted) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kHugePage = size_t{1} << 21;
  // Linux grants more memory than the machine has and later ends the process, so larger requests fail here.
  if (wanted > MachineBytes() - kAlignment) return nullptr;
  const auto size = static_cast<size_t>(wanted);
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  const bool is_large = size >= 2 * kHugePage;
  void *memory = nullptr;  // Android has no aligned_alloc before API level 28
  if (posix_memalign(&memory, is_large ? kHugePage : kAlignment, rounded == 0 ? kAlignment : rounded) != 0)
    return nullptr;
#ifdef MADV_HUGEPAGE
  // All weights are read in every run; huge pages reduce the TLB misses.
  if (is_large) madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void AlignedFree(void *pointer) { std::free(pointer); }

AlignedBuffer MakeGrown(uint64_t size, uint64_t most, size_t *capacity) {
  const uint64_t grown = std::max(size, std::min<uint64_t>(most, *capacity + *capacity / 4));
  AlignedBuffer buffer = MakeAligned(grown);
  *capacity = static_cast<size_t>(grown);
  if (buffer == nullptr && grown > size) {
    buffer = MakeAligned(size);
    *capacity = static_cast<size_t>(size);
  }
  if (buffer == nullptr) *capacity = 0;
  return buffer;
}

Bytes::~Bytes() {
  if (mapped_) {
    munmap(data_, size_);
  } else {
    if (was_encrypted_) Wipe(data_, size_);
    AlignedFree(data_);
  }
}

Status Bytes::Copy(const void *data, size_t size, std::shared_ptr<const Bytes> *bytes) {
  std::shared_ptr<Bytes> copy(new Bytes);
  copy->data_ = static_cast<uint8_t *>(AlignedAllocate(size));
  if (copy->data_ == nullptr) {
    return Fail(mindspore::kLiteMemoryFailed, Format("no memory for a copy of the model's %zu bytes", size));
  }
  std::memcpy(copy->data_, data, size);
  copy->size_ = size;
  *bytes = std::move(copy);
  return mindspore::kSuccess;
}

std::shared_ptr<const Bytes> Bytes::Decrypted(AlignedBuffer data, size_t size, const std::string &name) {
  std::shared_ptr<Bytes> bytes(new Bytes);
  bytes->name_ = name;
  bytes->data_ = data.release();
  bytes->size_ = size;
  bytes->was_encrypted_ = true;
  return bytes;
}

Status Bytes::Map(const std::string &path, std::shared_ptr<const Bytes> *bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Fail(mindspore::kLiteFileError, Format("cannot open '%s': %s", path.c_str(), std::strerror(errno)));
  }
  struct stat info = {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return Fail(mindspore::kLiteFileError, Format("'%s' is not a regular file", path.c_str()));
  }
  if (info.st_size <= 0) {
    close(file);
    return Fail(mindspore::kLiteFileError, Format("'%s' is empty", path.c_str()));
  }
  if (static_cast<uint64_t>(info.st_size) > kLargest) {
    close(file);
    return Fail(
        mindspore::kLiteFileError,
        Format("'%s' has %lld bytes, more than a program with addresses of %zu bits can map; use a 64-bit build",
               path.c_str(), static_cast<long long>(info.st_size), 8 * sizeof(void *)));
  }
  std::shared_ptr<Bytes> mapping(new Bytes);
  mapping->size_ = static_cast<size_t>(info.st_size);
  void *address = mmap(nullptr, mapping->size_, PROT_READ, MAP_PRIVATE, file, 0);
  const int reason = errno;
  close(file);
  if (address == MAP_FAILED) {
    return Fail(mindspore::kLiteFileError, Format("cannot map '%s': %s", path.c_str(), std::strerror(reason)));
  }
  mapping->data_ = static_cast<uint8_t *>(address);
  mapping->mapped_ = true;
  mapping->name_ = path;
  const size_t slash = path.rfind('/');
  mapping->directory_ = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  *bytes = std::move(mapping);
  return mindspore::kSuccess;
}
}  // namespace mslite
