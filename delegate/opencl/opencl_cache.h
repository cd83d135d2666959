// Cache of compiled programs in the folder MSLITE_OPENCL_CACHE, which processes can share.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_CACHE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_CACHE_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mslite {
class OpenClCache {
 public:
  // `device`: description of driver and device, which is a part of the key. Without the environment variable, the cache
  // is disabled.
  explicit OpenClCache(std::string device);
  bool is_on() const { return !folder_.empty(); }

  // Returns the binary of a program for this source and these options; empty if there is none or its file is damaged.
  std::vector<uint8_t> Find(const std::string &source, const std::string &options) const;
  // Stores a binary atomically. The oldest files are removed if the cache is full. Errors are ignored.
  void Keep(const std::string &source, const std::string &options, const std::vector<uint8_t> &binary) const;

 private:
  std::filesystem::path FileOf(const std::string &source, const std::string &options) const;
  void MakeRoom(uintmax_t bytes) const;

  std::string device_;
  std::filesystem::path folder_;
};
}  // namespace mslite

#endif
