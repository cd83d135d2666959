#include "crypto/cipher.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "crypto/libcrypto.h"
#include "model/wipe.h"

namespace mslite {
namespace {
constexpr size_t kTextPerBlock = size_t{64} << 20;

Status CheckKey(const mindspore::Key &key) {
  if (key.len == 16 || key.len == 24 || key.len == 32) return mindspore::kSuccess;
  return Fail(mindspore::kLiteParamInvalid, Format("an AES key has 16, 24 or 32 bytes, not %zu", key.len));
}

// A libcrypto context. It wipes the key schedule when it is destroyed, and restores the program's OpenSSL error queue.
class Context {
 public:
  explicit Context(const Libcrypto &library) : library_(library), context_(library.new_context()) {
    library_.set_mark();
  }
  ~Context() {
    if (context_ != nullptr) library_.free_context(context_);
    library_.pop_to_mark();
  }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  // Sets the IV size to 16 bytes first, because OpenSSL uses 12 by default.
  bool Begin(Libcrypto::Init init, CipherMode mode, const mindspore::Key &key, const uint8_t *iv) {
    const size_t variant = key.len / 8 - 2;
    const bool is_gcm = mode == CipherMode::kAesGcm;
    const void *cipher = is_gcm ? library_.aes_gcm[variant]() : library_.aes_cbc[variant]();
    return context_ != nullptr && cipher != nullptr && init(context_, cipher, nullptr, nullptr, nullptr) == 1 &&
           (!is_gcm || Control(kSetIvSize, kIvSize, nullptr)) && init(context_, nullptr, nullptr, key.key, iv) == 1;
  }

  bool Control(int type, size_t number, uint8_t *pointer) {
    return library_.control(context_, type, static_cast<int>(number), pointer) == 1;
  }

  void *get() { return context_; }

 private:
  const Libcrypto &library_;
  void *context_;
};

// Decrypts one block. `*written` is set to the bytes of the text.
Status DecryptBlock(const Libcrypto &library, const EncryptedBlock &block, const mindspore::Key &key, CipherMode mode,
                    const std::string &name, uint8_t *text, size_t *written) {
  Context context(library);
  int first = 0;
  int last = 0;
  if (!context.Begin(library.decrypt_init, mode, key, block.iv) ||
      library.decrypt_update(context.get(), text, &first, block.cipher, static_cast<int>(block.size)) != 1) {
    return FileError(mindspore::kLiteError, name, "libcrypto cannot decrypt it");
  }
  if (mode == CipherMode::kAesGcm) {
    uint8_t tag[kTagSize];
    std::copy(block.tag, block.tag + kTagSize, tag);
    if (!context.Control(kSetTag, kTagSize, tag))
      return FileError(mindspore::kLiteError, name, "libcrypto does not accept the tag");
  }
  if (library.decrypt_final(context.get(), text + first, &last) != 1) {
    return FileError(mindspore::kLiteGraphFileError, name,
                     "it cannot be decrypted: the key is wrong, or the file was changed");
  }
  *written = static_cast<size_t>(first) + static_cast<size_t>(last);
  return mindspore::kSuccess;
}

Status EncryptBlock(const Libcrypto &library, const uint8_t *text, size_t size, const mindspore::Key &key,
                    const uint8_t *iv, const std::string &name, uint8_t *block) {
  Context context(library);
  uint8_t tag[kTagSize];
  uint8_t *cipher = block + kHeadSize;
  int first = 0;
  int last = 0;
  if (!context.Begin(library.encrypt_init, CipherMode::kAesGcm, key, iv) ||
      library.encrypt_update(context.get(), cipher, &first, text, static_cast<int>(size)) != 1 ||
      library.encrypt_final(context.get(), cipher + first, &last) != 1 || !context.Control(kGetTag, kTagSize, tag)) {
    return FileError(mindspore::kLiteError, name, "libcrypto cannot encrypt it");
  }
  WriteHead(tag, iv, size, block);
  return mindspore::kSuccess;
}

bool FillRandom(std::vector<uint8_t> *bytes) {
  std::FILE *source = std::fopen("/dev/urandom", "rbe");
  if (source == nullptr) return false;
  std::setvbuf(source, nullptr, _IONBF, 0);
  const bool is_filled = std::fread(bytes->data(), 1, bytes->size(), source) == bytes->size();
  std::fclose(source);
  return is_filled;
}
}  // namespace

Status ParseCipherMode(const std::string &name, CipherMode *mode) {
  if (name == "AES-GCM" || name == "AES-CBC") {
    *mode = name == "AES-GCM" ? CipherMode::kAesGcm : CipherMode::kAesCbc;
    return mindspore::kSuccess;
  }
  if (name == "SM4-CBC") return Fail(mindspore::kLiteNotSupport, "decryption mode SM4-CBC is not supported");
  return Fail(mindspore::kLiteParamInvalid,
              Format("unknown decryption mode '%.100s'; it must be AES-GCM", name.c_str()));
}

Status DecryptFile(const NamedBytes &file, const mindspore::Key &key, CipherMode mode, const std::string &library,
                   AlignedBuffer *text, size_t *size) {
  MSLITE_TRY(CheckKey(key));
  std::vector<EncryptedBlock> blocks;
  MSLITE_TRY(SplitBlocks(file.data, file.size, file.name, mode, &blocks));
  Libcrypto crypto;
  MSLITE_TRY(LoadLibcrypto(library, &crypto));
  size_t room = 0;  // less than the file has
  for (const EncryptedBlock &block : blocks) room += block.size;
  AlignedBuffer made = MakeAligned(room + kIvSize);  // padding is decrypted, too, and then removed
  if (made == nullptr) {
    return Fail(mindspore::kLiteMemoryFailed, Format("no memory for the model's %zu decrypted bytes", room));
  }
  size_t written = 0;
  for (const EncryptedBlock &block : blocks) {
    size_t more = 0;
    if (const Status status = DecryptBlock(crypto, block, key, mode, file.name, made.get() + written, &more);
        status.IsError()) {
      Wipe(made.get(), room + kIvSize);
      return status;
    }
    written += more;
  }
  *text = std::move(made);
  *size = written;
  return mindspore::kSuccess;
}

size_t EncryptedSize(size_t size) { return size + (size + kTextPerBlock - 1) / kTextPerBlock * kHeadSize; }

Status EncryptFile(const NamedBytes &text, const mindspore::Key &key, const std::string &library, uint8_t *result) {
  MSLITE_TRY(CheckKey(key));
  if (text.size == 0) return Fail(mindspore::kLiteParamInvalid, "the model to encrypt is empty");
  Libcrypto crypto;
  MSLITE_TRY(LoadLibcrypto(library, &crypto));
  std::vector<uint8_t> ivs((text.size + kTextPerBlock - 1) / kTextPerBlock * kIvSize);
  if (!FillRandom(&ivs)) return Fail(mindspore::kLiteFileError, "cannot read random bytes from /dev/urandom");
  const uint8_t *iv = ivs.data();
  for (size_t begin = 0; begin < text.size; begin += kTextPerBlock, iv += kIvSize) {
    const size_t size = std::min(kTextPerBlock, text.size - begin);
    MSLITE_TRY(EncryptBlock(crypto, text.data + begin, size, key, iv, text.name, result));
    result += kHeadSize + size;
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
