// Whether the runtime can build a `.ms` file.
#ifndef MSLITE_PYTHON_BUILD_CHECK_H
#define MSLITE_PYTHON_BUILD_CHECK_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace mslite::python {

/// Builds the model in a file for the CPU, with `open_size` for each size of an input that the file leaves open:
/// constants are decoded, kernels are chosen, weights are not packed, and no memory for activations is taken. Returns
/// why it cannot be built, "" where it can, and whether that holds for other sizes of inputs and a machine with more
/// memory, too.
std::pair<std::string, bool> CheckBuild(const std::filesystem::path &path, int64_t open_size);

}  // namespace mslite::python

#endif
