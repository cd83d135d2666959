// Measures the time of each operator with callbacks of the runtime.
#ifndef MSLITE_BENCHMARK_PROFILE_H_
#define MSLITE_BENCHMARK_PROFILE_H_

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "include/api/model.h"

namespace mslite::benchmark {

struct OperatorTime {
  std::string name;
  std::string type;
  double total_ms = 0;
  int calls = 0;
};

class Profile {
 public:
  mindspore::MSKernelCallBack Before();
  mindspore::MSKernelCallBack After();

  // Returns the operators in the order of their first call.
  const std::vector<OperatorTime> &operators() const { return operators_; }

  // Prints the two tables of MindSpore Lite, by name and by type. `loops`: number of timed runs.
  void Print(int loops) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<OperatorTime> operators_;
  std::map<std::string, size_t> index_;
  Clock::time_point start_;
};

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PROFILE_H_
