#include "opencl/opencl_user.h"

#include "model/message.h"

namespace mslite {
namespace {
std::mutex finding;
std::map<const OpenClDevice *, std::weak_ptr<OpenClUser>> *users = nullptr;  // created for the first registered kernel
thread_local OpenClUser *current = nullptr;

// Definitions that the OpenCL sources of MindSpore Lite's kernels use.
constexpr char kMacros[] =
    " -DFLT=float -DFLT4=float4 -DFLT16=float16 -DAS_FLT4=as_float4 -DTO_FLT=convert_float -DTO_FLT4=convert_float4"
    " -DREAD_IMAGE=read_imagef -DWRITE_IMAGE=write_imagef";
}  // namespace

Status OpenClUser::Of(uint32_t number, std::shared_ptr<OpenClUser> *user) {
  std::shared_ptr<OpenClDevice> device;
  MSLITE_TRY(OpenClDevice::Find(number, &device));
  const std::lock_guard<std::mutex> lock(finding);
  if (users == nullptr) users = new std::map<const OpenClDevice *, std::weak_ptr<OpenClUser>>;
  std::weak_ptr<OpenClUser> &known = (*users)[device.get()];
  std::shared_ptr<OpenClUser> found = known.lock();
  if (found == nullptr || found->device_ != device) known = found = std::make_shared<OpenClUser>(device);
  MSLITE_TRY(found->memory_.Check());
  *user = std::move(found);
  return mindspore::kSuccess;
}

Status OpenClUser::Current(std::shared_ptr<OpenClUser> *user) {
  if (current == nullptr) return Of(0, user);
  *user = current->shared_from_this();
  return mindspore::kSuccess;
}

OpenClUser::~OpenClUser() {
  for (const auto &[key, program] : programs_) device_->library().clReleaseProgram(program);
}

KernelDevice *OpenClUser::Enter() {
  OpenClUser *before = current;
  current = this;
  return before;
}

void OpenClUser::Leave(KernelDevice *before) { current = static_cast<OpenClUser *>(before); }

Status OpenClUser::Make(const mslite_tensor &tensor, void **memory) {
  OpenClTexels shape;
  MSLITE_TRY(memory_.ShapeOf(tensor, &shape));
  return memory_.MakeImage(shape.width, shape.height, shape.type, memory);
}

Status OpenClUser::Write(const mslite_tensor &tensor, const void *contents, void *memory) {
  OpenClTexels shape;
  MSLITE_TRY(memory_.ShapeOf(tensor, &shape));
  return memory_.Write(shape, contents, memory);
}

Status OpenClUser::Read(const mslite_tensor &tensor, void *memory, void *contents) {
  OpenClTexels shape;
  MSLITE_TRY(memory_.ShapeOf(tensor, &shape));
  return memory_.Read(shape, memory, contents);
}

void OpenClUser::KeepSource(const std::string &program, const std::string &source) {
  const std::lock_guard<std::mutex> lock(building_);
  sources_[program] = source;
}

Status OpenClUser::Compile(const std::string &program, const std::string &source, const std::string &options,
                           cl_program *compiled) {
  const OpenClLibrary &library = device_->library();
  const char *text = source.c_str();
  cl_int error = CL_SUCCESS;
  *compiled = library.clCreateProgramWithSource(device_->context(), 1, &text, nullptr, &error);
  MSLITE_TRY(OpenClStatus(error, "clCreateProgramWithSource"));
  const cl_device_id id = device_->id();
  error = library.clBuildProgram(*compiled, 1, &id, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return mindspore::kSuccess;
  std::string log(4000, '\0');
  if (library.clGetProgramBuildInfo(*compiled, id, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr) !=
      CL_SUCCESS) {
    log.clear();
  }
  library.clReleaseProgram(*compiled);
  return OpenClStatus(error,
                      ("program '" + program + "' does not compile (" + log.substr(0, log.find('\0')) + ")").c_str());
}

Status OpenClUser::Build(const std::string &program, const std::string &kernel, const std::vector<std::string> &options,
                         cl_kernel *built) {
  const std::lock_guard<std::mutex> lock(building_);
  const auto source = sources_.find(program);
  if (source == sources_.end()) {
    return Fail(mindspore::kLiteParamInvalid,
                "there is no program '" + program + "'; LoadSource comes before BuildKernel");
  }
  std::string all = kMacros + Format(" -DMAX_IMAGE2D_WIDTH=%llu",
                                     static_cast<unsigned long long>(memory_.Limit(CL_DEVICE_IMAGE2D_MAX_WIDTH)));
  bool has_version = false;
  for (const std::string &option : options) {
    all += " " + option;
    has_version = has_version || option.find("-cl-std") != std::string::npos;
  }
  if (!has_version) all += " -cl-std=CL1.2";
  const std::string key = all + '\n' + source->second;
  if (programs_.count(key) == 0) {
    cl_program compiled = nullptr;
    MSLITE_TRY(Compile(program, source->second, all, &compiled));
    programs_[key] = compiled;
  }
  cl_int error = CL_SUCCESS;
  *built = device_->library().clCreateKernel(programs_[key], kernel.c_str(), &error);
  return OpenClStatus(error, ("kernel '" + kernel + "' of program '" + program + "'").c_str());
}

Status OpenClUser::SetMemoryArg(cl_kernel kernel, uint32_t index, void *memory) {
  cl_mem object = nullptr;
  MSLITE_TRY(memory_.Find(memory, &object));
  return OpenClStatus(device_->library().clSetKernelArg(kernel, index, sizeof(cl_mem), &object),
                      ("argument " + std::to_string(index) + " of the kernel").c_str());
}

Status OpenClUser::Enqueue(cl_kernel kernel, uint32_t dimensions, const size_t *global, const size_t *local,
                           cl_command_queue queue, cl_event *event) {
  return OpenClStatus(device_->library().clEnqueueNDRangeKernel(queue == nullptr ? device_->queue() : queue, kernel,
                                                                dimensions, nullptr, global, local, 0, nullptr, event),
                      "clEnqueueNDRangeKernel");
}

Status OpenClUser::Finish() { return OpenClStatus(device_->library().clFinish(device_->queue()), "clFinish"); }

Status OpenClUser::Map(void *memory, int flags, bool waits, void **contents) {
  return memory_.Map(memory, static_cast<cl_map_flags>(flags), waits, contents);
}

uint64_t OpenClUser::LimitOf(Limit limit) {
  constexpr cl_device_info kPitchAlignment = 0x104A;  // from OpenCL 2.0 and the extension for 1.2
  switch (limit) {
    case Limit::kGroupSize:
      return device_->limits().group_size;
    case Limit::kImageWidth:
      return memory_.Limit(CL_DEVICE_IMAGE2D_MAX_WIDTH);
    case Limit::kImageHeight:
      return memory_.Limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    case Limit::kImagePitchAlignment:
      return memory_.Limit(kPitchAlignment);
  }
  return 0;
}
}  // namespace mslite
