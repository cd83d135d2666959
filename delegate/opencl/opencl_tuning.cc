#include "opencl/opencl_tuning.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "opencl/opencl_files.h"

namespace mslite {
namespace {
namespace fs = std::filesystem;

constexpr FileKind kKind = "MSLCLT01";
constexpr char kName[] = "tuning.cltune";
// Format of a record: the key, then tile and three work-group sizes as little-endian 16-bit integers.
constexpr size_t kNumbers = 4;
constexpr size_t kRecord = sizeof(Digest) + 2 * kNumbers;

fs::path TuningFile() {
  const fs::path folder = OpenClCacheFolder();
  return folder.empty() ? folder : folder / kName;
}

bool IsOn() {
  const char *value = std::getenv("MSLITE_OPENCL_TUNING");
  return value != nullptr && std::strcmp(value, "on") == 0;
}

// File lock against other processes while the file is read, extended and written. If it cannot be obtained within half
// a second, records of one process may be lost; they are measured again.
class Lock {
 public:
  explicit Lock(const fs::path &path) : file_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    constexpr int kTurns = 50;
    for (int turn = 0; file_ >= 0 && turn < kTurns && flock(file_, LOCK_EX | LOCK_NB) != 0; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Lock() {
    if (file_ >= 0) close(file_);
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

 private:
  int file_;
};
}  // namespace

std::array<size_t, 3> ItemsOf(const OpenClLaunch &launch, int64_t tile) {
  std::array<size_t, 3> items = launch.global;
  if (launch.tile.define != nullptr) {
    items[launch.tile.dimension] = static_cast<size_t>((launch.tile.extent + tile - 1) / tile);
  }
  return items;
}

OpenClChoice FirstChoice(const OpenClLaunch &launch) {
  return {launch.tile.define == nullptr ? 1 : launch.tile.sizes.front(),
          {launch.group, launch.group == 0 ? 0u : 1u, launch.group == 0 ? 0u : 1u}};
}

std::vector<OpenClChoice> ChoicesOf(const OpenClLaunch &launch, size_t group_size) {
  constexpr size_t kSmallest = 32;
  constexpr size_t kLargest = 256;
  std::vector<OpenClChoice> choices = {FirstChoice(launch)};
  if (launch.group != 0) return choices;  // the kernel requires this work-group size
  const std::vector<int64_t> sizes = launch.tile.define == nullptr ? std::vector<int64_t>{1} : launch.tile.sizes;
  for (const int64_t tile : sizes) {
    const std::array<size_t, 3> items = ItemsOf(launch, tile);
    choices.push_back({tile, {0, 0, 0}});
    // OpenCL 1.2 requires that work-group sizes divide the number of items. Adjacent items along the first dimension
    // read adjacent memory.
    for (const size_t first : {8, 16, 32, 64, 128, 256}) {
      for (const size_t second : {1, 2, 4, 7, 8}) {
        const size_t whole = first * second;
        if (whole < kSmallest || whole > std::min(kLargest, group_size)) continue;
        if (items[0] % first != 0 || items[1] % second != 0) continue;
        choices.push_back({tile, {first, second, 1}});
      }
    }
  }
  // The first choice is in the list twice, because the loop adds it again.
  choices.erase(choices.begin());
  return choices;
}

OpenClTuning::OpenClTuning() : file_(TuningFile()), measures_(IsOn()) {
  if (file_.empty()) return;
  for (const Record &record : Read(file_)) known_[record.key] = record.choice;
}

// Values are not checked here: OpenClPart::Choose only uses a record that is one of the launch's choices.
std::vector<OpenClTuning::Record> OpenClTuning::Read(const fs::path &path) {
  const std::vector<uint8_t> bytes = ReadChecked(path, kKind, kMost * kRecord);
  std::vector<Record> records;
  if (bytes.size() % kRecord != 0) return records;
  for (auto at = bytes.begin(); at != bytes.end(); at += kRecord) {
    Record record;
    std::copy_n(at, record.key.size(), record.key.begin());
    std::array<size_t, kNumbers> numbers = {};
    for (size_t i = 0; i < kNumbers; ++i) {
      const auto number = at + static_cast<std::ptrdiff_t>(sizeof(Digest) + 2 * i);
      numbers[i] = static_cast<size_t>(number[0] | number[1] << 8);
    }
    record.choice = {static_cast<int64_t>(numbers[0]), {numbers[1], numbers[2], numbers[3]}};
    records.push_back(record);
  }
  return records;
}

bool OpenClTuning::Find(const Digest &key, OpenClChoice *choice) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = known_.find(key);
  if (place == known_.end()) return false;
  *choice = place->second;
  return true;
}

void OpenClTuning::Keep(const Digest &key, const OpenClChoice &choice) {
  const std::lock_guard<std::mutex> lock(mutex_);
  known_[key] = choice;
  new_.push_back({key, choice});
}

void OpenClTuning::Write() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_.empty() || new_.empty()) return;
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  const Lock others(file_.string() + ".lock");
  // New records are appended. If there are too many, the oldest ones are removed.
  std::vector<Record> records = Read(file_);
  const auto is_new = [&](const Record &record) {
    return std::any_of(new_.begin(), new_.end(), [&](const Record &other) { return other.key == record.key; });
  };
  records.erase(std::remove_if(records.begin(), records.end(), is_new), records.end());
  records.insert(records.end(), new_.begin(), new_.end());
  new_.clear();
  if (records.size() > kMost) records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(kMost));
  std::vector<uint8_t> bytes;
  for (const Record &record : records) {
    bytes.insert(bytes.end(), record.key.begin(), record.key.end());
    const std::array<size_t, 3> &group = record.choice.group;
    for (const size_t number : {static_cast<size_t>(record.choice.tile), group[0], group[1], group[2]}) {
      bytes.push_back(static_cast<uint8_t>(number & 255));
      bytes.push_back(static_cast<uint8_t>(number >> 8 & 255));
    }
  }
  WriteChecked(file_, kKind, bytes);
}
}  // namespace mslite
