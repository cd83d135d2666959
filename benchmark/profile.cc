#include "profile.h"

#include <cstdio>
#include <iostream>

namespace mslite::benchmark {
namespace {

// The format of MindSpore Lite: cells are padded to the width of their column, with a tab after each, below 73 dashes.
void PrintTable(const char *key, const std::map<std::string, OperatorTime> &rows, double total, int loops) {
  std::vector<std::vector<std::string>> cells = {{key, "avg(ms)", "percent", "calledTimes", "opTotalTime"}};
  const auto text = [](double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%f", value);
    return std::string(buffer);
  };
  for (const auto &[name, row] : rows) {
    cells.push_back({name, text(row.total_ms / loops), text(total > 0 ? row.total_ms / total : 0),
                     std::to_string(row.calls), text(row.total_ms)});
  }
  std::vector<size_t> widths(cells[0].size());
  for (const auto &row : cells) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::cout << std::string(73, '-') << "\n";
  for (const auto &row : cells) {
    for (size_t i = 0; i < row.size(); ++i) {
      std::cout << row[i] << std::string(widths[i] - row[i].size(), ' ') << "\t";
    }
    std::cout << "\n";
  }
}

}  // namespace

mindspore::MSKernelCallBack Profile::Before() {
  return [this](const std::vector<mindspore::MSTensor> &, const std::vector<mindspore::MSTensor> &,
                const mindspore::MSCallBackParam &) {
    start_ = Clock::now();
    return true;
  };
}

mindspore::MSKernelCallBack Profile::After() {
  return [this](const std::vector<mindspore::MSTensor> &, const std::vector<mindspore::MSTensor> &,
                const mindspore::MSCallBackParam &call) {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    const auto [found, is_new] = index_.emplace(call.node_name, operators_.size());
    if (is_new) operators_.push_back({call.node_name, call.node_type, 0, 0});
    operators_[found->second].total_ms += ms;
    operators_[found->second].calls += 1;
    return true;
  };
}

void Profile::Print(int loops) const {
  std::map<std::string, OperatorTime> by_name;
  std::map<std::string, OperatorTime> by_type;
  double total = 0;
  for (const OperatorTime &op : operators_) {
    total += op.total_ms;
    by_name.emplace(op.name, op);
    OperatorTime &type = by_type[op.type];
    type.total_ms += op.total_ms;
    type.calls += op.calls;
  }
  PrintTable("opName", by_name, total, loops);
  PrintTable("opType", by_type, total, loops);
}

}  // namespace mslite::benchmark
