// Compiled programs in a folder that MSLITE_OPENCL_CACHE names, for other processes, too.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_CACHE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_CACHE_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mslite {
class OpenClCache {
 public:
  // `device`: all that the driver says of itself and its device, so that another one finds nothing. Without the
  // variable nothing is ever found or kept.
  explicit OpenClCache(std::string device);
  bool is_on() const { return !folder_.empty(); }

  // The binary of a program that was compiled from this source with these options; empty where there is none, or where
  // its file is damaged.
  std::vector<uint8_t> Find(const std::string &source, const std::string &options) const;
  // Keeps one: written beside its place and renamed, so that other processes see a whole file or none. The oldest files
  // make room for it. What cannot be written is not kept.
  void Keep(const std::string &source, const std::string &options, const std::vector<uint8_t> &binary) const;

 private:
  std::filesystem::path FileOf(const std::string &source, const std::string &options) const;
  void MakeRoom(uintmax_t bytes) const;

  std::string device_;
  std::filesystem::path folder_;
};
}  // namespace mslite

#endif
