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

// Where nothing was measured: the first tile, and the driver's group.
OpenClChoice FirstChoice(const OpenClLaunch &launch);
// The first choice, and others that are worth measuring on a device with groups of so many items at most.
std::vector<OpenClChoice> ChoicesOf(const OpenClLaunch &launch, size_t group_size);
// Items of the launch with this tile.
std::array<size_t, 3> ItemsOf(const OpenClLaunch &launch, int64_t tile);

class OpenClTuning {
 public:
  // Records that are kept at most.
  static constexpr size_t kMost = 4096;

  // Reads what the folder has. MSLITE_OPENCL_TUNING=on: what it does not have is measured.
  OpenClTuning();
  bool measures() const { return measures_; }

  // `key`: of all that the time depends on. False where nothing is known of it.
  bool Find(const Digest &key, OpenClChoice *choice) const;
  void Keep(const Digest &key, const OpenClChoice &choice);
  // Adds what was kept since the last time to the file, beside what other processes have written into it. What cannot
  // be written is known to this process alone.
  void Write();

 private:
  struct Record {
    Digest key;
    OpenClChoice choice;
  };
  static std::vector<Record> Read(const std::filesystem::path &path);
  void Add(const Record &record);

  const std::filesystem::path file_;  // empty: there is no folder
  const bool measures_;
  mutable std::mutex mutex_;
  std::map<Digest, OpenClChoice> known_;
  std::vector<Record> new_;
};
}  // namespace mslite

#endif
