#include "opencl/opencl_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "model/sha256.h"

namespace mslite {
namespace {
namespace fs = std::filesystem;

constexpr uintmax_t kMostBytes = uintmax_t{64} << 20;
constexpr char kEnding[] = ".clbin";
constexpr char kMagic[8] = {'M', 'S', 'L', 'C', 'L', 'B', '0', '1'};

Digest DigestOf(const std::vector<uint8_t> &bytes) { return Sha256(bytes.data(), bytes.size()); }
}  // namespace

OpenClCache::OpenClCache(std::string device) : device_(std::move(device)) {
  if (const char *folder = std::getenv("MSLITE_OPENCL_CACHE"); folder != nullptr) folder_ = folder;
}

fs::path OpenClCache::FileOf(const std::string &source, const std::string &options) const {
  const std::string all = device_ + '\0' + options + '\0' + source;
  const Digest digest = Sha256(reinterpret_cast<const uint8_t *>(all.data()), all.size());
  std::string name;
  for (const uint8_t byte : digest) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return folder_ / (name + kEnding);
}

// Files: magic, SHA-256 of the binary, binary.
std::vector<uint8_t> OpenClCache::Find(const std::string &source, const std::string &options) const {
  if (folder_.empty()) return {};
  const fs::path path = FileOf(source, options);
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  constexpr size_t kHead = sizeof kMagic + sizeof(Digest);
  if (error || size <= kHead || size > kMostBytes) return {};
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size))) return {};
  const std::vector<uint8_t> binary(bytes.begin() + kHead, bytes.end());
  const Digest digest = DigestOf(binary);
  const bool is_whole = std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin()) &&
                        std::equal(digest.begin(), digest.end(), bytes.begin() + sizeof kMagic);
  if (!is_whole) return {};
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // used last, so it goes last
  return binary;
}

void OpenClCache::Keep(const std::string &source, const std::string &options,
                       const std::vector<uint8_t> &binary) const {
  if (folder_.empty() || binary.empty() || binary.size() > kMostBytes / 4) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  MakeRoom(binary.size());
  static std::atomic<unsigned> number{0};
  const fs::path path = FileOf(source, options);
  const fs::path part = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(number++) + ".part";
  {
    std::ofstream file(part, std::ios::binary);
    const Digest digest = DigestOf(binary);
    file.write(kMagic, sizeof kMagic);
    file.write(reinterpret_cast<const char *>(digest.data()), digest.size());
    file.write(reinterpret_cast<const char *>(binary.data()), static_cast<std::streamsize>(binary.size()));
    file.close();
    if (file.good()) {
      fs::rename(part, path, error);
      if (!error) return;
    }
  }
  fs::remove(part, error);
}

void OpenClCache::MakeRoom(uintmax_t bytes) const {
  struct Entry {
    fs::file_time_type used;
    fs::path path;
    uintmax_t bytes;
  };
  std::vector<Entry> entries;
  std::error_code error;
  uintmax_t total = bytes;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kEnding) continue;
    std::error_code gone;  // another process may have removed it
    Entry entry = {at->last_write_time(gone), at->path(), at->file_size(gone)};
    if (gone) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= kMostBytes) return;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}
}  // namespace mslite
