// A run that goes on for long is told of once, with the flag that ends it; one that ends in time is not.
#include "run_watch.h"

#include <gtest/gtest.h>

namespace mslite::benchmark::test {
namespace {
using std::chrono::milliseconds;

TEST(RunWatch, TellsOnceOfARunThatGoesOn) {
  testing::internal::CaptureStderr();
  {
    RunWatch watch(milliseconds(20));
    watch.Tick();
    std::this_thread::sleep_for(milliseconds(200));
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("--timeLimit"), std::string::npos) << told;
  EXPECT_EQ(told.find("--timeLimit"), told.rfind("--timeLimit")) << told;
}

TEST(RunWatch, SaysNothingOfManyShortRuns) {
  testing::internal::CaptureStderr();
  {
    RunWatch watch(milliseconds(2000));
    for (int i = 0; i < 300; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
      watch.Tick();
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(RunWatch, EndsAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  { const RunWatch watch; }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}
}  // namespace
}  // namespace mslite::benchmark::test
