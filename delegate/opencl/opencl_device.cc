#include "opencl/opencl_device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "model/message.h"
#include "opencl/opencl_files.h"
#include "opencl/opencl_programs.h"

namespace mslite {
namespace {
constexpr char kOptions[] = "-cl-std=CL1.2";

std::mutex finding;
std::map<cl_device_id, std::weak_ptr<OpenClDevice>> *devices = nullptr;  // created for the first model on OpenCL

std::string UpToZero(const std::string &text) { return text.substr(0, text.find('\0')); }

std::string DeviceText(const OpenClLibrary &library, cl_device_id device, cl_device_info what) {
  size_t size = 0;
  if (library.clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (library.clGetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return UpToZero(text);
}

std::string PlatformText(const OpenClLibrary &library, cl_platform_id platform) {
  size_t size = 0;
  if (library.clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (library.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return UpToZero(text);
}

struct Candidate {
  cl_device_id id = nullptr;
  std::string name;
  std::string platform;
  bool is_gpu = false;
};

std::vector<Candidate> AllDevices(const OpenClLibrary &library) {
  std::vector<Candidate> found;
  cl_uint platform_count = 0;
  if (library.clGetPlatformIDs(0, nullptr, &platform_count) != CL_SUCCESS) return found;
  std::vector<cl_platform_id> platforms(platform_count);
  if (platform_count == 0 || library.clGetPlatformIDs(platform_count, platforms.data(), nullptr) != CL_SUCCESS) {
    return found;
  }
  for (const cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (library.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> devices(count);
    if (library.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) != CL_SUCCESS) continue;
    for (const cl_device_id device : devices) {
      cl_device_type type = 0;
      library.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
      found.push_back({device, DeviceText(library, device, CL_DEVICE_NAME), PlatformText(library, platform),
                       (type & CL_DEVICE_TYPE_GPU) != 0});
    }
  }
  return found;
}

Status Choose(const std::vector<Candidate> &all, uint32_t number, Candidate *chosen) {
  const char *wanted = std::getenv("MSLITE_OPENCL_DEVICE");
  std::string listed;
  uint32_t gpus = 0;
  for (const Candidate &device : all) {
    listed += (listed.empty() ? "'" : ", '") + device.name + "' (" + device.platform + ")";
    const bool is_named = wanted != nullptr && (device.name.find(wanted) != std::string::npos ||
                                                device.platform.find(wanted) != std::string::npos);
    if (is_named || (wanted == nullptr && device.is_gpu && gpus++ == number)) {
      *chosen = device;
      return mindspore::kSuccess;
    }
  }
  std::string reason = "OpenCL: no device";
  if (wanted != nullptr) {
    reason += std::string(" with '") + wanted + "' in its name or platform (MSLITE_OPENCL_DEVICE)";
  } else {
    reason += number == 0 ? " that is a GPU" : " that is the GPU with index " + std::to_string(number);
  }
  if (listed.empty()) listed = "none";
  return Fail(mindspore::kLiteNotSupport,
              reason + "; available devices: " + listed +
                  (wanted == nullptr && !all.empty() ? ". MSLITE_OPENCL_DEVICE selects other types of devices" : ""));
}

const char *TextOf(const std::string &name) {
  const OpenClText *text = kOpenClTexts;
  while (text->name != nullptr && text->name != name) ++text;
  return text->text;
}

template <typename Value>
Value DeviceNumber(const OpenClLibrary &library, cl_device_id device, cl_device_info what, Value otherwise) {
  Value value = otherwise;
  return library.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

bool IsOff(const char *value) { return value != nullptr && std::strcmp(value, "off") == 0; }
}  // namespace

Status OpenClDevice::Find(uint32_t number, std::shared_ptr<OpenClDevice> *device) {
  const OpenClLibrary *library = nullptr;
  MSLITE_TRY(OpenClLibrary::Open(&library));
  const std::lock_guard<std::mutex> lock(finding);
  if (devices == nullptr) devices = new std::map<cl_device_id, std::weak_ptr<OpenClDevice>>;
  Candidate chosen;
  MSLITE_TRY(Choose(AllDevices(*library), number, &chosen));
  std::weak_ptr<OpenClDevice> &known = (*devices)[chosen.id];
  *device = known.lock();
  if (*device != nullptr && !(*device)->has_failed_) return mindspore::kSuccess;
  std::shared_ptr<OpenClDevice> made(new OpenClDevice(*library, chosen.id));
  made->name_ = chosen.name;
  if (const Status status = made->Start(); status.IsError()) {
    return Fail(mindspore::kLiteNotSupport, "OpenCL: device '" + chosen.name + "': " + status.GetErrDescription());
  }
  known = made;
  *device = std::move(made);
  return mindspore::kSuccess;
}

Status OpenClDevice::Start() {
  if (DeviceNumber<cl_bool>(library_, device_, CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE) == CL_FALSE) {
    return Fail(mindspore::kLiteNotSupport, "it has no compiler");
  }
  limits_.group_size = DeviceNumber<size_t>(library_, device_, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
  limits_.alignment = DeviceNumber<cl_uint>(library_, device_, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
  limits_.local_bytes = DeviceNumber<cl_ulong>(library_, device_, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  limits_.largest_buffer = DeviceNumber<cl_ulong>(library_, device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
  shares_memory_ = DeviceNumber<cl_bool>(library_, device_, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE) != CL_FALSE &&
                   !IsOff(std::getenv("MSLITE_OPENCL_SHARED_MEMORY"));
  identity_ = name_ + '\n' + DeviceText(library_, device_, CL_DEVICE_VERSION) + '\n' +
              DeviceText(library_, device_, CL_DRIVER_VERSION);
  cache_ = std::make_unique<OpenClCache>(identity_);
  tuning_ = std::make_unique<OpenClTuning>();
  if (DeviceNumber<cl_bool>(library_, device_, CL_DEVICE_IMAGE_SUPPORT, CL_FALSE) != CL_FALSE) {
    limits_.image_width = DeviceNumber<size_t>(library_, device_, CL_DEVICE_IMAGE2D_MAX_WIDTH, 0);
    limits_.image_height = DeviceNumber<size_t>(library_, device_, CL_DEVICE_IMAGE2D_MAX_HEIGHT, 0);
  }
  // Adreno caches reads of images but not of buffers. Other GPUs cache both.
  limits_.prefers_images = DeviceText(library_, device_, CL_DEVICE_VENDOR).find("QUALCOMM") != std::string::npos;
  cl_int error = CL_SUCCESS;
  context_ = library_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
  MSLITE_TRY(OpenClStatus(error, "clCreateContext"));
  const cl_command_queue_properties properties = tuning_->measures() ? CL_QUEUE_PROFILING_ENABLE : 0;
  queue_ = library_.clCreateCommandQueue(context_, device_, properties, &error);
  return OpenClStatus(error, "clCreateCommandQueue");
}

OpenClDevice::~OpenClDevice() {
  for (const auto &[key, program] : programs_) library_.clReleaseProgram(program);
  if (queue_ != nullptr) library_.clReleaseCommandQueue(queue_);
  if (context_ != nullptr) library_.clReleaseContext(context_);
}

Status OpenClDevice::MakeBuffer(size_t bytes, std::unique_ptr<OpenClBuffer> *buffer) const {
  if (limits_.largest_buffer != 0 && bytes > limits_.largest_buffer) {
    return Fail(mindspore::kLiteMemoryFailed, Format("a buffer of %zu bytes, but the maximum of the device is %llu",
                                                     bytes, static_cast<unsigned long long>(limits_.largest_buffer)));
  }
  cl_int error = CL_SUCCESS;
  const cl_mem memory = library_.clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes == 0 ? 1 : bytes, nullptr, &error);
  MSLITE_TRY(OpenClStatus(error, Format("clCreateBuffer of %zu bytes", bytes).c_str()));
  *buffer = std::make_unique<OpenClBuffer>(library_, memory);
  return mindspore::kSuccess;
}

Status OpenClDevice::ShareBuffer(void *memory, size_t bytes, bool is_written,
                                 std::unique_ptr<OpenClBuffer> *buffer) const {
  cl_int error = CL_SUCCESS;
  const cl_mem_flags flags = (is_written ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY) | CL_MEM_USE_HOST_PTR;
  const cl_mem made = library_.clCreateBuffer(context_, flags, bytes, memory, &error);
  MSLITE_TRY(OpenClStatus(error, Format("clCreateBuffer of %zu bytes that are there", bytes).c_str()));
  *buffer = std::make_unique<OpenClBuffer>(library_, made);
  return mindspore::kSuccess;
}

Status OpenClDevice::MakeSubBuffer(const OpenClBuffer &whole, size_t offset, size_t bytes,
                                   std::unique_ptr<OpenClBuffer> *buffer) const {
  const cl_buffer_region region = {offset, bytes};
  cl_int error = CL_SUCCESS;
  const cl_mem memory =
      library_.clCreateSubBuffer(whole.memory(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  MSLITE_TRY(OpenClStatus(error, "clCreateSubBuffer"));
  *buffer = std::make_unique<OpenClBuffer>(library_, memory);
  return mindspore::kSuccess;
}

Status OpenClDevice::MakeImage(size_t width, size_t height, bool is_half, std::unique_ptr<OpenClBuffer> *image) const {
  const cl_image_format format = {CL_RGBA, static_cast<cl_channel_type>(is_half ? CL_HALF_FLOAT : CL_FLOAT)};
  cl_image_desc shape = {};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = width;
  shape.image_height = height;
  cl_int error = CL_SUCCESS;
  const cl_mem memory = library_.clCreateImage(context_, CL_MEM_READ_WRITE, &format, &shape, nullptr, &error);
  MSLITE_TRY(OpenClStatus(error, Format("clCreateImage of %zu x %zu", width, height).c_str()));
  *image = std::make_unique<OpenClBuffer>(library_, memory);
  return mindspore::kSuccess;
}

Status OpenClDevice::Compile(const std::string &what, const std::string &source, cl_program *program) const {
  const char *text = source.c_str();
  cl_int error = CL_SUCCESS;
  *program = library_.clCreateProgramWithSource(context_, 1, &text, nullptr, &error);
  MSLITE_TRY(OpenClStatus(error, "clCreateProgramWithSource"));
  error = library_.clBuildProgram(*program, 1, &device_, kOptions, nullptr, nullptr);
  if (error == CL_SUCCESS) return mindspore::kSuccess;
  std::string log(2000, '\0');
  if (library_.clGetProgramBuildInfo(*program, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr) !=
      CL_SUCCESS) {
    log.clear();
  }
  library_.clReleaseProgram(*program);
  return OpenClStatus(error, ("clBuildProgram of " + what + " (" + UpToZero(log) + ")").c_str());
}

// Returns the cached program; null if there is none or the driver rejects it.
cl_program OpenClDevice::FromCache(const std::string &source) const {
  const std::vector<uint8_t> binary = cache_->Find(source, kOptions);
  if (binary.empty()) return nullptr;
  const size_t size = binary.size();
  const unsigned char *bytes = binary.data();
  cl_int status = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  const cl_program program = library_.clCreateProgramWithBinary(context_, 1, &device_, &size, &bytes, &status, &error);
  if (error != CL_SUCCESS || program == nullptr) return nullptr;
  if (status == CL_SUCCESS && library_.clBuildProgram(program, 1, &device_, kOptions, nullptr, nullptr) == CL_SUCCESS) {
    return program;
  }
  library_.clReleaseProgram(program);
  return nullptr;
}

// Returns the binary of a program; empty if the driver does not provide it.
std::vector<uint8_t> OpenClDevice::BinaryOf(cl_program program) const {
  size_t size = 0;
  if (library_.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS) return {};
  std::vector<uint8_t> binary(size);
  unsigned char *bytes = binary.data();
  if (size == 0 ||
      library_.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
    return {};
  }
  return binary;
}

Status OpenClDevice::Build(const std::string &file, const std::string &defines, cl_program *program,
                           OpenClBuildCounts *counts) {
  const std::string key = file + " " + defines;
  if (const auto place = programs_.find(key); place != programs_.end()) {
    *program = place->second;
    return mindspore::kSuccess;
  }
  const char *common = TextOf("common");
  const char *text = TextOf(file);
  if (common == nullptr || text == nullptr) {
    return Fail(mindspore::kLiteError, "this library has no kernels/gpu/" + file + ".cl");
  }
  const std::string source = defines + common + text;
  const auto begin = std::chrono::steady_clock::now();
  cl_program made = FromCache(source);
  if (made == nullptr) {
    MSLITE_TRY(Compile(file + ".cl with " + defines, source, &made));
    if (cache_->is_on()) cache_->Keep(source, kOptions, BinaryOf(made));
    ++counts->compiled;
  } else {
    ++counts->loaded;
  }
  counts->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  programs_[key] = made;
  *program = made;
  return mindspore::kSuccess;
}

Status OpenClDevice::MakeKernel(const std::string &file, const std::string &defines, const std::string &function,
                                std::unique_ptr<OpenClKernel> *kernel, OpenClBuildCounts *counts) {
  const std::lock_guard<std::mutex> lock(building_);
  cl_program program = nullptr;
  MSLITE_TRY(Build(file, defines, &program, counts));
  cl_int error = CL_SUCCESS;
  const cl_kernel made = library_.clCreateKernel(program, function.c_str(), &error);
  MSLITE_TRY(OpenClStatus(error, ("clCreateKernel of " + function).c_str()));
  *kernel = std::make_unique<OpenClKernel>(library_, made);
  return mindspore::kSuccess;
}

size_t OpenClDevice::GroupSizeOf(const OpenClKernel &kernel) const {
  size_t size = 0;
  const cl_int error = library_.clGetKernelWorkGroupInfo(kernel.kernel(), device_, CL_KERNEL_WORK_GROUP_SIZE,
                                                         sizeof size, &size, nullptr);
  return error == CL_SUCCESS ? size : 0;
}

Status OpenClDevice::Enqueue(const OpenClKernel &kernel, const std::array<size_t, 3> &items,
                             const std::array<size_t, 3> &group, cl_event *event) const {
  return OpenClStatus(library_.clEnqueueNDRangeKernel(queue_, kernel.kernel(), 3, nullptr, items.data(),
                                                      group[0] == 0 ? nullptr : group.data(), 0, nullptr, event),
                      "clEnqueueNDRangeKernel");
}

Status OpenClDevice::Measure(const OpenClKernel &kernel, const std::array<size_t, 3> &items,
                             const std::array<size_t, 3> &group, double *seconds) const {
  cl_event event = nullptr;
  MSLITE_TRY(Enqueue(kernel, items, group, &event));
  cl_ulong begin = 0;
  cl_ulong end = 0;
  cl_int error = library_.clWaitForEvents(1, &event);
  if (error == CL_SUCCESS) {
    error = library_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
  }
  if (error == CL_SUCCESS) {
    error = library_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  }
  library_.clReleaseEvent(event);
  *seconds = static_cast<double>(end - begin) * 1e-9;
  return OpenClStatus(error, "a launch that is measured");
}

Digest OpenClDevice::TuningKeyOf(const OpenClLaunch &launch, const std::string &defines) const {
  std::string sizes;
  for (const size_t items : launch.global) sizes += std::to_string(items) + " ";
  if (launch.tile.define != nullptr) sizes += launch.tile.define + (" " + std::to_string(launch.tile.extent)) + " ";
  for (const OpenClLaunch::Argument &argument : launch.arguments) {
    if (!argument.is_buffer && !argument.is_real) sizes += std::to_string(argument.integer) + " ";
  }
  return DigestOf({identity_, TextOf("common"), TextOf(launch.file), defines, launch.function, sizes});
}
}  // namespace mslite
