// Tuning: the fastest tile and work-group size of a launch, measured once and stored in the folder MSLITE_OPENCL_CACHE.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_TUNING_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_TUNING_H

#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "model/sha256.h"
#include "opencl/opencl_plan.h"

namespace mslite {
struct OpenClChoice {
  int64_t tile = 1;
  std::array<size_t, 3> group = {0, 0, 0};  // zeros: the driver chooses

  bool operator==(const OpenClChoice &other) const { return tile == other.tile && group == other.group; }
};

// Returns the default choice: the first tile, and the work-group size of the driver.
OpenClChoice FirstChoice(const OpenClLaunch &launch);
// Returns the default choice and others to measure, with at most `group_size` work items per work-group.
std::vector<OpenClChoice> ChoicesOf(const OpenClLaunch &launch, size_t group_size);
// Returns the number of work items of the launch with this tile.
std::array<size_t, 3> ItemsOf(const OpenClLaunch &launch, int64_t tile);

class OpenClTuning {
 public:
  // Maximum number of records in the file.
  static constexpr size_t kMost = 4096;

  // Reads the file in the cache folder. With MSLITE_OPENCL_TUNING=on, launches without a record are measured.
  OpenClTuning();
  bool measures() const { return measures_; }

  // Finds the choice for a key (OpenClDevice::TuningKeyOf). Returns false if there is none.
  bool Find(const Digest &key, OpenClChoice *choice) const;
  void Keep(const Digest &key, const OpenClChoice &choice);
  // Adds the choices of Keep since the last call to the file, which other processes may have changed. If the file
  // cannot be written, only this process has them.
  void Write();

 private:
  struct Record {
    Digest key;
    OpenClChoice choice;
  };
  static std::vector<Record> Read(const std::filesystem::path &path);
  void Add(const Record &record);

  const std::filesystem::path file_;  // empty if there is no cache folder
  const bool measures_;
  mutable std::mutex mutex_;
  std::map<Digest, OpenClChoice> known_;
  std::vector<Record> new_;
};
}  // namespace mslite

#endif
