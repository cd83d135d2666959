// The functions of OpenVINO's C library that the backend calls. The library is loaded at run time. The functions are
// declared here, so that the build does not need OpenVINO. Releases 2024.6 to 2026.4 have all of them.
#ifndef MSLITE_DELEGATE_OPENVINO_OPENVINO_LIBRARY_H
#define MSLITE_DELEGATE_OPENVINO_OPENVINO_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "include/api/status.h"

namespace mslite {
// Opaque types of the library.
struct OvCore;
struct OvModel;
struct OvPort;
struct OvCompiledModel;
struct OvInferRequest;
struct OvTensor;

struct OvShape {
  int64_t rank;
  int64_t *dims;
};

// CALL(result, name, parameters) for each function. The variadic arguments are names and values of properties.
#define MSLITE_OPENVINO_FUNCTIONS(CALL)                                                                               \
  CALL(const char *, ov_get_last_err_msg, ())                                                                         \
  CALL(const char *, ov_get_error_info, (int status))                                                                 \
  CALL(void, ov_free, (const char *text))                                                                             \
  CALL(int, ov_core_create, (OvCore * *core))                                                                         \
  CALL(void, ov_core_free, (OvCore * core))                                                                           \
  CALL(int, ov_core_get_property, (const OvCore *core, const char *device, const char *key, char **value))            \
  CALL(int, ov_core_read_model_from_memory_buffer,                                                                    \
       (const OvCore *core, const char *text, size_t length, const OvTensor *weights, OvModel **model))               \
  CALL(int, ov_core_compile_model,                                                                                    \
       (const OvCore *core, const OvModel *model, const char *device, size_t arguments, OvCompiledModel **compiled,   \
        ...))                                                                                                         \
  CALL(void, ov_model_free, (OvModel * model))                                                                        \
  CALL(int, ov_model_const_input_by_index, (const OvModel *model, size_t index, OvPort **port))                       \
  CALL(int, ov_port_get_element_type, (const OvPort *port, uint32_t *type))                                           \
  CALL(void, ov_output_const_port_free, (OvPort * port))                                                              \
  CALL(void, ov_compiled_model_free, (OvCompiledModel * compiled))                                                    \
  CALL(int, ov_compiled_model_create_infer_request, (const OvCompiledModel *compiled, OvInferRequest **request))      \
  CALL(void, ov_infer_request_free, (OvInferRequest * request))                                                       \
  CALL(int, ov_infer_request_set_input_tensor_by_index, (OvInferRequest * request, size_t index, const OvTensor *x))  \
  CALL(int, ov_infer_request_set_output_tensor_by_index, (OvInferRequest * request, size_t index, const OvTensor *y)) \
  CALL(int, ov_infer_request_infer, (OvInferRequest * request))                                                       \
  CALL(int, ov_tensor_create_from_host_ptr, (uint32_t type, OvShape shape, void *contents, OvTensor **tensor))        \
  CALL(void, ov_tensor_free, (OvTensor * tensor))

struct OpenVinoLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  MSLITE_OPENVINO_FUNCTIONS(MSLITE_MEMBER)
#undef MSLITE_MEMBER

  // Loads the library in the first call: MSLITE_OPENVINO_LIBRARY, or the library path of the system. Errors:
  // kLiteNotSupport, with the paths that were tried.
  static mindspore::Status Open(const OpenVinoLibrary **library);

  // Converts a result code to a status: kLiteError, with the name of the function and OpenVINO's message.
  mindspore::Status Check(int status, const char *function) const;
};
}  // namespace mslite

#endif
