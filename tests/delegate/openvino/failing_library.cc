// A library in the place of OpenVINO's C library: passes every call on to the one that REAL_OPENVINO names, save that
// call number FAIL_AT of those that may fail does. Where CALLS names a file, it gets the number of calls at the end.
#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "openvino/openvino_library.h"

namespace {
using namespace mslite;  // NOLINT

constexpr int kGeneralError = -1;

struct Counter {
  int calls = 0;
  ~Counter() {
    if (const char *path = std::getenv("CALLS"); path != nullptr) std::ofstream(path) << calls;
  }
};
Counter counter;

bool MustFail() {
  const char *number = std::getenv("FAIL_AT");
  return ++counter.calls == (number == nullptr ? 0 : std::atoi(number));
}

void *Real(const char *name) {
  static void *library = dlopen(std::getenv("REAL_OPENVINO"), RTLD_NOW | RTLD_LOCAL);
  return dlsym(library, name);
}
}  // namespace

#define PASS(name, parameters, arguments)                                      \
  extern "C" __attribute__((visibility("default"))) int name parameters {      \
    static const auto real = reinterpret_cast<int(*) parameters>(Real(#name)); \
    return MustFail() ? kGeneralError : real arguments;                        \
  }
#define PASS_SAFE(result, name, parameters, arguments)                       \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    return reinterpret_cast<result(*) parameters>(Real(#name)) arguments;    \
  }

PASS_SAFE(const char *, ov_get_last_err_msg, (), ())
PASS_SAFE(const char *, ov_get_error_info, (int status), (status))
PASS_SAFE(void, ov_free, (const char *text), (text))
PASS_SAFE(void, ov_core_free, (OvCore * core), (core))
PASS_SAFE(void, ov_model_free, (OvModel * model), (model))
PASS_SAFE(void, ov_output_const_port_free, (OvPort * port), (port))
PASS_SAFE(void, ov_compiled_model_free, (OvCompiledModel * compiled), (compiled))
PASS_SAFE(void, ov_infer_request_free, (OvInferRequest * request), (request))
PASS_SAFE(void, ov_tensor_free, (OvTensor * tensor), (tensor))
PASS(ov_core_create, (OvCore * *core), (core))
PASS(ov_core_get_property, (const OvCore *core, const char *device, const char *key, char **value),
     (core, device, key, value))
PASS(ov_core_read_model_from_memory_buffer,
     (const OvCore *core, const char *text, size_t length, const OvTensor *weights, OvModel **model),
     (core, text, length, weights, model))
PASS(ov_model_const_input_by_index, (const OvModel *model, size_t index, OvPort **port), (model, index, port))
PASS(ov_port_get_element_type, (const OvPort *port, uint32_t *type), (port, type))
PASS(ov_compiled_model_create_infer_request, (const OvCompiledModel *compiled, OvInferRequest **request),
     (compiled, request))
PASS(ov_infer_request_set_input_tensor_by_index, (OvInferRequest * request, size_t index, const OvTensor *x),
     (request, index, x))
PASS(ov_infer_request_set_output_tensor_by_index, (OvInferRequest * request, size_t index, const OvTensor *y),
     (request, index, y))
PASS(ov_infer_request_infer, (OvInferRequest * request), (request))
PASS(ov_tensor_create_from_host_ptr, (uint32_t type, OvShape shape, void *contents, OvTensor **tensor),
     (type, shape, contents, tensor))

// Three properties, as the engine gives them.
extern "C" __attribute__((visibility("default"))) int ov_core_compile_model(const OvCore *core, const OvModel *model,
                                                                            const char *device, size_t count,
                                                                            OvCompiledModel **compiled, ...) {
  if (MustFail() || count != 6) return kGeneralError;
  const char *texts[6];
  va_list list;
  va_start(list, compiled);
  for (const char *&text : texts) text = va_arg(list, const char *);
  va_end(list);
  using Function = int (*)(const OvCore *, const OvModel *, const char *, size_t, OvCompiledModel **, ...);
  return reinterpret_cast<Function>(Real("ov_core_compile_model"))(core, model, device, count, compiled, texts[0],
                                                                   texts[1], texts[2], texts[3], texts[4], texts[5]);
}
