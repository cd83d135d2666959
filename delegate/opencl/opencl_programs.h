// The sources of the kernels.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_PROGRAMS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_PROGRAMS_H

namespace mslite {
struct OpenClText {
  const char *name;  // of kernels/gpu/<name>.cl
  const char *text;
};
// Ends with an entry without a name.
extern const OpenClText kOpenClTexts[];
}  // namespace mslite

#endif
