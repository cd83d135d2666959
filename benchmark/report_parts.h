// Common parts of the JSON files and HTML reports of all modes.
#ifndef MSLITE_BENCHMARK_REPORT_PARTS_H_
#define MSLITE_BENCHMARK_REPORT_PARTS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "result.h"

namespace mslite::benchmark {

// Returns the name, shape and type of each tensor, and the CRC-32 of its data if `with_crc`.
nlohmann::ordered_json Tensors(const std::vector<TensorInfo> &tensors, bool with_crc);

// Writes a JSON file. Returns an error message, or "".
std::string WriteJsonText(const nlohmann::ordered_json &json, const std::string &path);

// Writes an HTML report: `page` with __RESULT__ replaced by the result and its origin. Returns an error message, or "".
std::string WritePageText(std::string page, nlohmann::ordered_json json, const Origin &origin, const std::string &path);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_REPORT_PARTS_H_
