// What the JSON files and pages of all of the program's modes are put together from.
#ifndef MSLITE_BENCHMARK_REPORT_PARTS_H_
#define MSLITE_BENCHMARK_REPORT_PARTS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "result.h"

namespace mslite::benchmark {

// Name, shape and type of each, with the CRC-32 of its contents if wanted.
nlohmann::ordered_json Tensors(const std::vector<TensorInfo> &tensors, bool with_crc);

// Writes a JSON file. Returns what went wrong, or "".
std::string WriteJsonText(const nlohmann::ordered_json &json, const std::string &path);

// Writes a page: `page` with the result and its origin in place of __RESULT__. Returns what went wrong, or "".
std::string WritePageText(std::string page, nlohmann::ordered_json json, const Origin &origin, const std::string &path);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_REPORT_PARTS_H_
