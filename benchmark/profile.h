// Times every operator through the runtime's callbacks.
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

  // Operators in the order of their first call.
  const std::vector<OperatorTime> &operators() const { return operators_; }

  // The original's two tables, by name and by type; `loops` timed runs were made.
  void Print(int loops) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<OperatorTime> operators_;
  std::map<std::string, size_t> index_;
  Clock::time_point start_;
};

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PROFILE_H_
