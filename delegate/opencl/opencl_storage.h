// In which form the memory of the device holds tensors and weights.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_STORAGE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_STORAGE_H

#include <string>
#include <vector>

#include "engine/part.h"

namespace mslite {
// The FORM of kernels/gpu/common.cl.
enum class OpenClForm { kArray, kHalf };

// "#define TYPE_x float\n#define FORM_x half\n", for an operand of that name whose elements are of that type of OpenCL
// C.
std::string DefineOperand(const std::string &name, const char *type, OpenClForm form);

int64_t BytesPerElement(OpenClForm form, int32_t type);

// Real numbers rounded to float16, to the nearest and then to even; beyond 65504: infinite.
std::vector<uint8_t> RoundToHalf(const float *numbers, size_t count);

// The form of each tensor of a part that computes in float16. `roots`: of each tensor, the one whose memory it has.
std::vector<OpenClForm> ChooseForms(const Part &part, const std::vector<int32_t> &roots);
}  // namespace mslite

#endif
