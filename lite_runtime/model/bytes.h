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
// Allocates a multiple of 64 bytes, 64-byte aligned; returns nullptr if memory is out. Free it with AlignedFree.
MSLITE_INTERNAL_API void *AlignedAllocate(uint64_t size);
MSLITE_INTERNAL_API void AlignedFree(void *pointer);

struct AlignedDelete {
  void operator()(uint8_t *pointer) const { AlignedFree(pointer); }
};
using AlignedBuffer = std::unique_ptr<uint8_t[], AlignedDelete>;

inline AlignedBuffer MakeAligned(uint64_t size) { return AlignedBuffer(static_cast<uint8_t *>(AlignedAllocate(size))); }

// Allocates memory for `size` bytes to replace a buffer of `*capacity` bytes. Grows by a quarter, limited to `most` and
// to the memory that is available, because sizes that grow with each run, such as a decoder's cache, would otherwise
// need a new buffer each time. Sets `*capacity` to the new size; 0 if it returns nullptr.
MSLITE_INTERNAL_API AlignedBuffer MakeGrown(uint64_t size, uint64_t most, size_t *capacity);

class Bytes {
 public:
  ~Bytes();
  Bytes(const Bytes &) = delete;
  Bytes &operator=(const Bytes &) = delete;

  // Copies the data to memory aligned to 64 bytes.
  MSLITE_INTERNAL_API static Status Copy(const void *data, size_t size, std::shared_ptr<const Bytes> *bytes);
  // Takes over the decrypted content of the file `name`. The memory is wiped when it is freed.
  static std::shared_ptr<const Bytes> Decrypted(AlignedBuffer data, size_t size, const std::string &name);
  // Maps the file `path`. Errors: kLiteFileError with the path and the system's reason.
  MSLITE_INTERNAL_API static Status Map(const std::string &path, std::shared_ptr<const Bytes> *bytes);

  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  // The path, or "<buffer>".
  const std::string &name() const { return name_; }
  // The folder of the model's side files; empty for a buffer.
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

// The memory of this machine in bytes, limited to the address space of this process.
MSLITE_INTERNAL_API size_t MachineBytes();
}  // namespace mslite

#endif
