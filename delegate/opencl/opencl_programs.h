// The OpenCL sources of the kernels, which are embedded in the library.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_PROGRAMS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_PROGRAMS_H

namespace mslite {
struct OpenClText {
  const char *name;  // name of the file kernels/gpu/<name>.cl
  const char *text;
};
// The last entry has no name.
extern const OpenClText kOpenClTexts[];
}  // namespace mslite

#endif
