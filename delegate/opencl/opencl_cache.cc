#include "opencl/opencl_cache.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "opencl/opencl_files.h"

namespace mslite {
namespace {
namespace fs = std::filesystem;

constexpr uintmax_t kMaxBytes = uintmax_t{64} << 20;
constexpr char kEnding[] = ".clbin";
constexpr FileKind kKind = "MSLCLB01";
}  // namespace

OpenClCache::OpenClCache(std::string device) : device_(std::move(device)), folder_(OpenClCacheFolder()) {}

fs::path OpenClCache::FileOf(const std::string &source, const std::string &options) const {
  std::string name;
  for (const uint8_t byte : DigestOf({device_, options, source})) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return folder_ / (name + kEnding);
}

std::vector<uint8_t> OpenClCache::Find(const std::string &source, const std::string &options) const {
  if (folder_.empty()) return {};
  const fs::path path = FileOf(source, options);
  std::vector<uint8_t> binary = ReadChecked(path, kKind, kMaxBytes);
  std::error_code error;
  if (!binary.empty())
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // marks the file as recently used
  return binary;
}

void OpenClCache::Keep(const std::string &source, const std::string &options,
                       const std::vector<uint8_t> &binary) const {
  if (folder_.empty() || binary.empty() || binary.size() > kMaxBytes / 4) return;
  MakeRoom(binary.size());
  WriteChecked(FileOf(source, options), kKind, binary);
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
    std::error_code gone;  // ignored: another process may have removed the file
    Entry entry = {at->last_write_time(gone), at->path(), at->file_size(gone)};
    if (gone) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= kMaxBytes) return;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}
}  // namespace mslite
