// The file of measured choices: what it holds comes back, from several processes, and nothing comes from a damaged one.
#include "opencl/opencl_tuning.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "opencl/opencl_files.h"

namespace mslite::test {
namespace {
namespace fs = std::filesystem;

Digest KeyOf(int number) { return DigestOf({"launch", std::to_string(number)}); }

OpenClChoice ChoiceOf(int number) { return {1 + number % 8, {static_cast<size_t>(number % 257), 1, 1}}; }

class OpenClTuningFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    setenv("MSLITE_OPENCL_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("MSLITE_OPENCL_CACHE");
    fs::remove_all(folder_);
  }

  static void KeepSome(int begin, int end) {
    OpenClTuning tuning;
    for (int i = begin; i < end; ++i) tuning.Keep(KeyOf(i), ChoiceOf(i));
    tuning.Write();
  }

  // How many of the choices [0, count) a new process would find; each must be the right one.
  static int Found(int count) {
    const OpenClTuning tuning;
    int found = 0;
    for (int i = 0; i < count; ++i) {
      OpenClChoice choice;
      if (!tuning.Find(KeyOf(i), &choice)) continue;
      EXPECT_EQ(choice, ChoiceOf(i)) << i;
      ++found;
    }
    return found;
  }

  std::string Contents() const {
    std::ifstream file(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Replace(const std::string &contents) const { std::ofstream(file_, std::ios::binary) << contents; }

  const fs::path folder_ = testing::TempDir() + "opencl_tuning." + std::to_string(getpid());
  const fs::path file_ = folder_ / "tuning.cltune";
};

TEST_F(OpenClTuningFile, WhatIsKeptIsFound) {
  EXPECT_EQ(Found(5), 0);
  KeepSome(0, 3);
  EXPECT_EQ(Found(5), 3);
  KeepSome(2, 5);
  EXPECT_EQ(Found(5), 5);
  OpenClChoice choice;
  EXPECT_FALSE(OpenClTuning().Find(KeyOf(5), &choice));
}

TEST_F(OpenClTuningFile, WithoutAFolderNothingIsWritten) {
  unsetenv("MSLITE_OPENCL_CACHE");
  KeepSome(0, 3);
  EXPECT_EQ(Found(3), 0);
}

TEST_F(OpenClTuningFile, NothingComesFromADamagedFile) {
  KeepSome(0, 3);
  const std::string whole = Contents();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      Replace(damaged);
      EXPECT_EQ(Found(3), 0) << "byte " << at;
    }
    Replace(whole.substr(0, at));
    EXPECT_EQ(Found(3), 0) << "cut at " << at;
  }
  Replace(whole + whole.back());
  EXPECT_EQ(Found(3), 0);
  // The next one that is kept makes it a whole file again.
  KeepSome(0, 2);
  EXPECT_EQ(Found(3), 2);
}

TEST_F(OpenClTuningFile, ARecordThatIsNotWhole) {
  ASSERT_TRUE(WriteChecked(file_, "MSLCLT01", std::vector<uint8_t>(41, 1)));
  EXPECT_EQ(Found(3), 0);
}

TEST_F(OpenClTuningFile, TheFirstOnesGoWhereThereAreTooMany) {
  const int most = OpenClTuning::kMost;
  KeepSome(0, most);
  KeepSome(most, most + 10);
  EXPECT_EQ(Found(most + 10), most);
  OpenClChoice choice;
  EXPECT_FALSE(OpenClTuning().Find(KeyOf(9), &choice));
  EXPECT_TRUE(OpenClTuning().Find(KeyOf(10), &choice));
}

TEST_F(OpenClTuningFile, ProcessesThatWriteAtTheSameTimeLoseNothing) {
  constexpr int kProcesses = 4;
  constexpr int kTurns = 10;
  constexpr int kEach = 3;
  std::vector<pid_t> children;
  for (int child = 0; child < kProcesses; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int turn = 0; turn < kTurns; ++turn) {
        const int begin = (child * kTurns + turn) * kEach;
        KeepSome(begin, begin + kEach);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Found(kProcesses * kTurns * kEach), kProcesses * kTurns * kEach);
  for (const fs::directory_entry &entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".part") << "a file is left half-written";
  }
}

TEST_F(OpenClTuningFile, WhatAKilledProcessLeftIsRemoved) {
  KeepSome(0, 3);
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  const std::string of_gone = "." + std::to_string(gone) + ".0.part";
  const std::string of_parent = "." + std::to_string(getppid()) + ".0.part";
  const std::vector<std::string> removed = {"tuning.cltune" + of_gone, "00ff.clbin" + of_gone};
  const std::vector<std::string> kept = {"tuning.cltune" + of_parent,  // a process that runs
                                         "notes" + of_gone,
                                         "tuning.cltune.part",
                                         "tuning.cltune.x.0.part",
                                         "tuning.cltune.-1.0.part",
                                         "tuning.cltune.99999999999.0.part"};
  for (const std::vector<std::string> &names : {removed, kept}) {
    for (const std::string &name : names) std::ofstream(folder_ / name) << "unfinished";
  }
  EXPECT_EQ(Found(3), 3);
  for (const std::string &name : removed) EXPECT_FALSE(fs::exists(folder_ / name)) << name;
  for (const std::string &name : kept) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
}

TEST_F(OpenClTuningFile, AnEarlierProcessMayHaveHadTheSameNumber) {
  KeepSome(0, 3);
  const pid_t child = fork();
  if (child == 0) {  // as a program in a container, which has the same number each time
    const fs::path left = folder_ / ("00ff.clbin." + std::to_string(getpid()) + ".0.part");
    std::ofstream(left) << "unfinished";
    const OpenClTuning first;
    const bool is_removed = !fs::exists(left);
    std::ofstream(left) << "unfinished";  // now it may be another thread's
    const OpenClTuning second;
    _exit(is_removed && fs::exists(left) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(OpenClTuningFile, AFolderThatCannotBeWritten) {
  std::ofstream(folder_.string()) << "a file";
  KeepSome(0, 3);
  EXPECT_EQ(Found(3), 0);
  fs::remove(folder_);
}

TEST(OpenClChoices, DivideTheItems) {
  OpenClLaunch launch;
  launch.Items(48, 30, 14).Tiles("PIXELS", 1, 30, {4, 2, 1});
  const std::vector<OpenClChoice> choices = ChoicesOf(launch, 128);
  EXPECT_EQ(choices.front(), FirstChoice(launch));
  EXPECT_EQ(choices.front().tile, 4);
  EXPECT_GT(choices.size(), 6u);
  for (const OpenClChoice &choice : choices) {
    const std::array<size_t, 3> items = ItemsOf(launch, choice.tile);
    EXPECT_EQ(items[1], (30u + static_cast<size_t>(choice.tile) - 1) / static_cast<size_t>(choice.tile));
    if (choice.group[0] == 0) continue;
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(items[i] % choice.group[i], 0u);
    EXPECT_LE(choice.group[0] * choice.group[1] * choice.group[2], 128u);
  }
  launch.Groups(3, 16);
  EXPECT_EQ(ChoicesOf(launch, 128).size(), 1u) << "a kernel that needs its group";
}
}  // namespace
}  // namespace mslite::test
