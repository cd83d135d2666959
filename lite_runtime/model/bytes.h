// The bytes of a model file: a private copy, or the file mapped into memory.
#ifndef MSLITE_MODEL_BYTES_H
#define MSLITE_MODEL_BYTES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/internal_api.h"
#include "model/message.h"

namespace mslite {
// Memory on a 64-byte boundary, from a multiple of 64 bytes; nullptr when there is none. Freed by AlignedFree.
MSLITE_INTERNAL_API void *AlignedAllocate(uint64_t size);
MSLITE_INTERNAL_API void AlignedFree(void *pointer);

struct AlignedDelete {
  void operator()(uint8_t *pointer) const { AlignedFree(pointer); }
};
using AlignedBuffer = std::unique_ptr<uint8_t[], AlignedDelete>;

inline AlignedBuffer MakeAligned(uint64_t size) { return AlignedBuffer(static_cast<uint8_t *>(AlignedAllocate(size))); }

// Memory for `size` bytes in place of what held `*capacity`: a quarter more than that, if it is at most `most` and
// there is as much. Sizes that grow with each run, as those of a decoder's cache, would else take new memory each time.
// `*capacity` becomes what it holds; 0 with nullptr.
MSLITE_INTERNAL_API AlignedBuffer MakeGrown(uint64_t size, uint64_t most, size_t *capacity);

class Bytes {
 public:
  ~Bytes();
  Bytes(const Bytes &) = delete;
  Bytes &operator=(const Bytes &) = delete;

  // A copy, aligned to 64 bytes.
  MSLITE_INTERNAL_API static Status Copy(const void *data, size_t size, std::shared_ptr<const Bytes> *bytes);
  // What was decrypted of the file of that name: nobody else has it, and it is wiped when it goes.
  static std::shared_ptr<const Bytes> Decrypted(AlignedBuffer data, size_t size, const std::string &name);
  // Maps `path`. Errors: kLiteFileError with the path and the system's reason.
  MSLITE_INTERNAL_API static Status Map(const std::string &path, std::shared_ptr<const Bytes> *bytes);

  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  // The path, or "<buffer>".
  const std::string &name() const { return name_; }
  // The folder that side files are looked up in; empty for a buffer.
  const std::string &directory() const { return directory_; }
  bool was_encrypted() const { return was_encrypted_; }

 private:
  Bytes() = default;
  uint8_t *data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  bool was_encrypted_ = false;
  std::string name_ = "<buffer>";
  std::string directory_;
};

// Memory of this machine, as far as the addresses of this process reach.
MSLITE_INTERNAL_API size_t MachineBytes();
}  // namespace mslite

#endif
