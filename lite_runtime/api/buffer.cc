// Buffers, allocators, keys and the version.
#include <cstdlib>
#include <cstring>

#include "api/log.h"
#include "include/api/allocator.h"
#include "include/api/types.h"
#include "model/bytes.h"
#include "model/wipe.h"

namespace mindspore {
class Buffer::Impl {
 public:
  std::vector<uint8_t> bytes;
};

// If memory is exhausted, `impl_` is null until ResizeData allocates it.
Buffer::Buffer() : impl_(mslite::CallOrDefault([] { return std::make_shared<Impl>(); })) {}
Buffer::Buffer(const void *data, size_t data_len) : Buffer() { SetData(data, data_len); }
Buffer::~Buffer() = default;
const void *Buffer::Data() const { return impl_ == nullptr ? nullptr : impl_->bytes.data(); }
void *Buffer::MutableData() { return impl_ == nullptr ? nullptr : impl_->bytes.data(); }
size_t Buffer::DataSize() const { return impl_ == nullptr ? 0 : impl_->bytes.size(); }

bool Buffer::ResizeData(size_t data_len) {
  try {
    if (impl_ == nullptr) impl_ = std::make_shared<Impl>();
    impl_->bytes.resize(data_len);
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

bool Buffer::SetData(const void *data, size_t data_len) {
  if ((data == nullptr) != (data_len == 0) || !ResizeData(data_len)) return false;
  if (data_len != 0) std::memcpy(impl_->bytes.data(), data, data_len);
  return true;
}

Buffer Buffer::Clone() const { return Buffer(DataSize() == 0 ? nullptr : Data(), DataSize()); }

namespace {
class DefaultAllocator : public Allocator {
 public:
  void *Malloc(size_t size) override { return mslite::AlignedAllocate(size); }
  void Free(void *pointer) override { mslite::AlignedFree(pointer); }
  int RefCount(void *) override { return 1; }
  int SetRefCount(void *, int) override { return 1; }
  int DecRefCount(void *, int) override { return 1; }
  int IncRefCount(void *, int) override { return 1; }
};
}  // namespace

std::shared_ptr<Allocator> Allocator::Create() { return std::make_shared<DefaultAllocator>(); }

Key::Key(const char *dec_key, size_t key_len) {
  if (dec_key == nullptr || key_len > max_key_len) return;
  std::memcpy(key, dec_key, key_len);
  len = key_len;
}

Key::~Key() { mslite::Wipe(key, sizeof key); }

std::string Version() { return "MindSpore Lite 2.7.0 (mslite " MSLITE_VERSION ")"; }
std::vector<char> CharVersion() { return StringToChar(Version()); }
}  // namespace mindspore
