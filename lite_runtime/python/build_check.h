// CheckBuild: tests if the runtime can build a `.ms` file.
#ifndef MSLITE_PYTHON_BUILD_CHECK_H
#define MSLITE_PYTHON_BUILD_CHECK_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace mslite::python {

/// Builds a model file for the CPU, with `open_size` for each dynamic dimension of its inputs. Constants are decoded
/// and kernels are selected; weights are not packed and no memory for activations is allocated. Returns why the model
/// cannot be built ("" if it can), and whether the result is the same for other input sizes and a machine with more
/// memory.
std::pair<std::string, bool> CheckBuild(const std::filesystem::path &path, int64_t open_size);

}  // namespace mslite::python

#endif
