/* An OpenCL library that hands every call to the system's, and fails those that it is told to. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>

static long calls, first_failing = LONG_MAX, last_failing = LONG_MAX;
static cl_int failure = CL_OUT_OF_RESOURCES;

/* Calls [first, last] fail, counted from now on; the first is number 1. Returns how many there were since the last
 * time. */
long fail_calls(long first, long last) {
  const long counted = calls;
  calls = 0;
  first_failing = first;
  last_failing = last;
  return counted;
}

/* What calls fail with from now on. */
void fail_with(cl_int error) { failure = error; }

static size_t allocated;

/* Bytes that were asked of clCreateBuffer since the last time, beside memory that is there. */
size_t allocated_bytes(void) {
  const size_t counted = allocated;
  allocated = 0;
  return counted;
}

static long images;

/* Images that were made since the last time. */
long made_images(void) {
  const long counted = images;
  images = 0;
  return counted;
}

static int fails(void) {
  ++calls;
  return calls >= first_failing && calls <= last_failing;
}

/* NULL where the system has no OpenCL: every call fails. */
static void *real(const char *name) {
  static void *library;
  if (library == NULL) library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == NULL ? NULL : dlsym(library, name);
}

#define STATUS(name, parameters, arguments)                            \
  CL_API_ENTRY cl_int CL_API_CALL name parameters {                    \
    static cl_int(*function) parameters;                               \
    if (function == NULL) *(void **)&function = real(#name);           \
    return function == NULL || fails() ? failure : function arguments; \
  }

#define OBJECT(type, name, parameters, arguments)                \
  CL_API_ENTRY type CL_API_CALL name parameters {                \
    static type(*function) parameters;                           \
    if (function == NULL) *(void **)&function = real(#name);     \
    if (function != NULL && !fails()) return function arguments; \
    if (error != NULL) *error = failure;                         \
    return NULL;                                                 \
  }

/* What waits fails when it has waited: a lost device works no more when that is said. */
#define WAIT(name, parameters, arguments)                    \
  CL_API_ENTRY cl_int CL_API_CALL name parameters {          \
    static cl_int(*function) parameters;                     \
    if (function == NULL) *(void **)&function = real(#name); \
    const cl_int status = function arguments;                \
    return fails() ? failure : status;                       \
  }

/* What gives memory back cannot fail. */
#define RELEASE(name, type)                                  \
  CL_API_ENTRY cl_int CL_API_CALL name(type object) {        \
    static cl_int (*function)(type);                         \
    if (function == NULL) *(void **)&function = real(#name); \
    return function == NULL ? CL_SUCCESS : function(object); \
  }

STATUS(clGetPlatformIDs, (cl_uint room, cl_platform_id *ids, cl_uint *count), (room, ids, count))
STATUS(clGetPlatformInfo, (cl_platform_id id, cl_platform_info what, size_t room, void *value, size_t *size),
       (id, what, room, value, size))
STATUS(clGetDeviceIDs, (cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ids, cl_uint *count),
       (id, type, room, ids, count))
STATUS(clGetDeviceInfo, (cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size),
       (id, what, room, value, size))
OBJECT(cl_context, clCreateContext,
       (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *error),
       (properties, count, devices, notify, data, error))
RELEASE(clReleaseContext, cl_context)
OBJECT(cl_command_queue, clCreateCommandQueue,
       (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *error),
       (context, device, properties, error))
RELEASE(clReleaseCommandQueue, cl_command_queue)
OBJECT(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error),
       (context, flags, (allocated += host == NULL ? size : 0, size), host, error))
OBJECT(cl_mem, clCreateSubBuffer,
       (cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type, const void *info, cl_int *error),
       (memory, flags, type, info, error))
OBJECT(cl_mem, clCreateImage,
       (cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *shape, void *host,
        cl_int *error),
       (context, flags, format, shape, host, (++images, error)))
RELEASE(clReleaseMemObject, cl_mem)
OBJECT(cl_program, clCreateProgramWithSource,
       (cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *error),
       (context, count, texts, lengths, error))
OBJECT(cl_program, clCreateProgramWithBinary,
       (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
        const unsigned char **binaries, cl_int *statuses, cl_int *error),
       (context, count, devices, lengths, binaries, statuses, error))
STATUS(clBuildProgram,
       (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
        void(CL_CALLBACK *notify)(cl_program, void *), void *data),
       (program, count, devices, options, notify, data))
STATUS(clGetProgramInfo, (cl_program program, cl_program_info what, size_t room, void *value, size_t *size),
       (program, what, room, value, size))
STATUS(clGetProgramBuildInfo,
       (cl_program program, cl_device_id device, cl_program_build_info what, size_t room, void *value, size_t *size),
       (program, device, what, room, value, size))
RELEASE(clReleaseProgram, cl_program)
OBJECT(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error), (program, name, error))
RELEASE(clReleaseKernel, cl_kernel)
STATUS(clGetKernelWorkGroupInfo,
       (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t room, void *value, size_t *size),
       (kernel, device, what, room, value, size))
STATUS(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value), (kernel, index, size, value))
STATUS(clEnqueueNDRangeKernel,
       (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
        const size_t *local, cl_uint count, const cl_event *waits, cl_event *event),
       (queue, kernel, dimensions, offset, global, local, count, waits, event))
STATUS(clEnqueueReadBuffer,
       (cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t offset, size_t size, void *to, cl_uint count,
        const cl_event *waits, cl_event *event),
       (queue, memory, blocks, offset, size, to, count, waits, event))
STATUS(clEnqueueWriteBuffer,
       (cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t offset, size_t size, const void *from,
        cl_uint count, const cl_event *waits, cl_event *event),
       (queue, memory, blocks, offset, size, from, count, waits, event))
STATUS(clEnqueueWriteImage,
       (cl_command_queue queue, cl_mem image, cl_bool blocks, const size_t *origin, const size_t *region,
        size_t row_pitch, size_t slice_pitch, const void *from, cl_uint count, const cl_event *waits, cl_event *event),
       (queue, image, blocks, origin, region, row_pitch, slice_pitch, from, count, waits, event))
OBJECT(void *, clEnqueueMapBuffer,
       (cl_command_queue queue, cl_mem memory, cl_bool blocks, cl_map_flags flags, size_t offset, size_t size,
        cl_uint count, const cl_event *waits, cl_event *event, cl_int *error),
       (queue, memory, blocks, flags, offset, size, count, waits, event, error))
STATUS(clEnqueueUnmapMemObject,
       (cl_command_queue queue, cl_mem memory, void *at, cl_uint count, const cl_event *waits, cl_event *event),
       (queue, memory, at, count, waits, event))
WAIT(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
STATUS(clGetEventProfilingInfo, (cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size),
       (event, what, room, value, size))
RELEASE(clReleaseEvent, cl_event)
WAIT(clFinish, (cl_command_queue queue), (queue))
