#include "opencl/opencl_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "model/message.h"
#include "model/names.h"

namespace mslite {
namespace {
constexpr size_t kInTexel = 4;

size_t Quarters(size_t channels) { return (channels + kInTexel - 1) / kInTexel; }

// Returns the channel type of an image; 0 if OpenCL has none for the data type.
cl_channel_type ChannelOf(int32_t type) {
  switch (type) {
    case MSLITE_FLOAT32:
      return CL_FLOAT;
    case MSLITE_FLOAT16:
      return CL_HALF_FLOAT;
    case MSLITE_INT32:
      return CL_SIGNED_INT32;
    case MSLITE_INT8:
      return CL_SIGNED_INT8;
    case MSLITE_UINT8:
    case MSLITE_BOOL:
      return CL_UNSIGNED_INT8;
    default:
      return 0;
  }
}
}  // namespace

OpenClMemory::OpenClMemory(std::shared_ptr<OpenClDevice> device) : device_(std::move(device)) {
#define MSLITE_LOAD(name) \
  functions_.name = reinterpret_cast<decltype(functions_.name)>(dlsym(device_->library().handle, #name));
  MSLITE_OPENCL_MEMORY_FUNCTIONS(MSLITE_LOAD)
#undef MSLITE_LOAD
}

Status OpenClMemory::Check() const {
  const char *missing = nullptr;
#define MSLITE_LOOK(name) \
  if (functions_.name == nullptr) missing = #name;
  MSLITE_OPENCL_MEMORY_FUNCTIONS(MSLITE_LOOK)
#undef MSLITE_LOOK
  if (missing == nullptr) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotSupport,
              std::string("OpenCL: the library has no ") + missing + ", which registered GPU kernels need");
}

OpenClMemory::~OpenClMemory() {
  for (const auto &[pointer, piece] : pieces_) device_->library().clReleaseMemObject(piece->object);
}

uint64_t OpenClMemory::Limit(cl_device_info what) const {
  uint64_t value = 0;
  uint32_t half = 0;
  // Some limits have 4 bytes, others the size of a pointer.
  if (device_->library().clGetDeviceInfo(device_->id(), what, sizeof half, &half, nullptr) == CL_SUCCESS) return half;
  const bool is_known =
      device_->library().clGetDeviceInfo(device_->id(), what, sizeof value, &value, nullptr) == CL_SUCCESS;
  return is_known ? value : 0;
}

void *OpenClMemory::Add(cl_mem object, size_t bytes, size_t width, size_t height, int32_t type) {
  auto piece = std::make_unique<Piece>(Piece{object, bytes, width, height, type, nullptr, 0});
  void *pointer = piece.get();
  const std::lock_guard<std::mutex> lock(mutex_);
  pieces_[pointer] = std::move(piece);
  return pointer;
}

void *OpenClMemory::Malloc(size_t size) {
  cl_int error = CL_SUCCESS;
  const cl_mem object = device_->library().clCreateBuffer(device_->context(), CL_MEM_READ_WRITE,
                                                          std::max(size, size_t{1}), nullptr, &error);
  return error == CL_SUCCESS ? Add(object, size, 0, 0, 0) : nullptr;
}

void *OpenClMemory::Malloc(size_t width, size_t height, mindspore::DataType type) {
  void *memory = nullptr;
  return MakeImage(width, height, static_cast<int32_t>(type), &memory).IsOk() ? memory : nullptr;
}

Status OpenClMemory::MakeImage(size_t width, size_t height, int32_t type, void **memory) {
  cl_image_format format = {CL_RGBA, ChannelOf(type)};
  if (format.image_channel_data_type == 0) {
    return Fail(mindspore::kLiteNotSupport, std::string("images do not hold ") + TypeName(type));
  }
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  cl_int error = CL_SUCCESS;
  const cl_mem object =
      functions_.clCreateImage(device_->context(), CL_MEM_READ_WRITE, &format, &description, nullptr, &error);
  MSLITE_TRY(OpenClStatus(error, Format("clCreateImage of %zu x %zu texels", width, height).c_str()));
  const auto texel = kInTexel * static_cast<size_t>(mslite_type_size(type));
  *memory = Add(object, width * height * texel, width, height, type);
  return mindspore::kSuccess;
}

void OpenClMemory::Free(void *pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = pieces_.find(pointer);
  if (place == pieces_.end()) return;
  device_->library().clReleaseMemObject(place->second->object);
  pieces_.erase(place);
}

int OpenClMemory::CountReferences(void *pointer, int count, bool sets) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = pieces_.find(pointer);
  if (place == pieces_.end()) return -1;
  place->second->references = sets ? count : place->second->references + count;
  return place->second->references;
}

Status OpenClMemory::ShapeOf(const mslite_tensor &tensor, OpenClTexels *shape) const {
  constexpr int32_t kMaxDims = 5;
  const auto refuse = [&](const std::string &reason) {
    return Fail(mindspore::kLiteNotSupport,
                "a tensor " + TensorText(tensor) + " is no image of this device: " + reason);
  };
  if (ChannelOf(tensor.type) == 0) return refuse("images hold float32, float16, int32, int8, uint8 and bool");
  if (tensor.rank > kMaxDims) return refuse("the rank is above 5");
  *shape = OpenClTexels();
  shape->type = tensor.type;
  const auto dim = [&](int32_t axis) { return static_cast<size_t>(tensor.dims[axis]); };
  if (tensor.rank > 0) shape->channels = dim(tensor.rank - 1);
  for (int32_t axis = 0; axis < tensor.rank - 1; ++axis) shape->places *= dim(axis);
  const size_t beside = tensor.rank > 2 ? dim(tensor.rank - 2) : 1;
  const uint64_t widest = Limit(CL_DEVICE_IMAGE2D_MAX_WIDTH);
  const uint64_t highest = Limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  if (widest == 0 || highest == 0) return refuse("it has no images");
  shape->width = beside * Quarters(shape->channels);
  shape->height = beside == 0 ? 0 : shape->places / beside;
  if (shape->width > widest) {
    shape->width = Quarters(shape->channels);
    shape->height = shape->places;
  }
  if (shape->width > widest || shape->height > highest) {
    return refuse(Format("%zu x %zu texels, but the maximum is %llu x %llu", shape->width, shape->height,
                         static_cast<unsigned long long>(widest), static_cast<unsigned long long>(highest)));
  }
  return mindspore::kSuccess;
}

Status OpenClMemory::PieceAt(void *memory, Piece *piece) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = pieces_.find(memory);
  if (place == pieces_.end()) {
    return Fail(mindspore::kLiteParamInvalid,
                "a pointer that names no memory of the device: neither the data of a tensor that the device holds, nor "
                "what GetAllocator gave (constants are in the CPU's memory)");
  }
  *piece = *place->second;
  return mindspore::kSuccess;
}

Status OpenClMemory::Find(void *memory, cl_mem *object) {
  Piece piece;
  MSLITE_TRY(PieceAt(memory, &piece));
  *object = piece.object;
  return mindspore::kSuccess;
}

Status OpenClMemory::ImageAt(void *memory, const OpenClTexels *shape, Piece *piece) {
  MSLITE_TRY(PieceAt(memory, piece));
  if (piece->width == 0) return Fail(mindspore::kLiteParamInvalid, "a buffer where an image is expected");
  if (shape == nullptr) return mindspore::kSuccess;
  if (piece->width == shape->width && piece->height == shape->height && piece->type == shape->type)
    return mindspore::kSuccess;
  return Fail(mindspore::kLiteParamInvalid, Format("an image of %zu x %zu texels of ", piece->width, piece->height) +
                                                TypeName(piece->type) +
                                                Format(" where %zu x %zu of ", shape->width, shape->height) +
                                                TypeName(shape->type) + " are expected");
}

// Copies `source` to the image, or the image to `target`; the other one is null. Blocks until all earlier commands of
// the queue have finished.
Status OpenClMemory::CopyImage(const Piece &image, const void *source, void *target) const {
  const size_t origin[3] = {0, 0, 0};
  const size_t region[3] = {image.width, image.height, 1};
  if (source != nullptr) {
    return OpenClStatus(functions_.clEnqueueWriteImage(device_->queue(), image.object, CL_TRUE, origin, region, 0, 0,
                                                       source, 0, nullptr, nullptr),
                        "clEnqueueWriteImage");
  }
  return OpenClStatus(functions_.clEnqueueReadImage(device_->queue(), image.object, CL_TRUE, origin, region, 0, 0,
                                                    target, 0, nullptr, nullptr),
                      "clEnqueueReadImage");
}

Status OpenClMemory::ReadImage(void *memory, void *texels) {
  Piece image;
  MSLITE_TRY(ImageAt(memory, nullptr, &image));
  if (texels == nullptr) return Fail(mindspore::kLiteNullptr, "ReadImage: dst_data is null");
  return CopyImage(image, nullptr, texels);
}

Status OpenClMemory::WriteImage(void *memory, const void *texels) {
  Piece image;
  MSLITE_TRY(ImageAt(memory, nullptr, &image));
  if (texels == nullptr) return Fail(mindspore::kLiteNullptr, "WriteImage: src_data is null");
  return CopyImage(image, texels, nullptr);
}

Status OpenClMemory::Write(const OpenClTexels &shape, const void *contents, void *memory) {
  Piece image;
  MSLITE_TRY(ImageAt(memory, &shape, &image));
  if (shape.channels % kInTexel == 0) return CopyImage(image, contents, nullptr);
  const size_t row = shape.channels * static_cast<size_t>(mslite_type_size(shape.type));
  const size_t padded = Quarters(shape.channels) * kInTexel * static_cast<size_t>(mslite_type_size(shape.type));
  std::vector<uint8_t> texels(shape.places * padded);
  for (size_t i = 0; i < shape.places; ++i) {
    std::memcpy(texels.data() + i * padded, static_cast<const uint8_t *>(contents) + i * row, row);
  }
  return CopyImage(image, texels.data(), nullptr);
}

Status OpenClMemory::Read(const OpenClTexels &shape, void *memory, void *contents) {
  Piece piece;
  MSLITE_TRY(PieceAt(memory, &piece));
  const size_t row = shape.channels * static_cast<size_t>(mslite_type_size(shape.type));
  if (piece.width == 0) {
    if (piece.bytes < shape.places * row) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("a buffer of %zu bytes, but the tensor has %zu", piece.bytes, shape.places * row));
    }
    return OpenClStatus(device_->library().clEnqueueReadBuffer(device_->queue(), piece.object, CL_TRUE, 0,
                                                               shape.places * row, contents, 0, nullptr, nullptr),
                        "clEnqueueReadBuffer");
  }
  MSLITE_TRY(ImageAt(memory, &shape, &piece));
  if (shape.channels % kInTexel == 0) return CopyImage(piece, nullptr, contents);
  const size_t padded = Quarters(shape.channels) * kInTexel * static_cast<size_t>(mslite_type_size(shape.type));
  std::vector<uint8_t> texels(shape.places * padded);
  MSLITE_TRY(CopyImage(piece, nullptr, texels.data()));
  for (size_t i = 0; i < shape.places; ++i) {
    std::memcpy(static_cast<uint8_t *>(contents) + i * row, texels.data() + i * padded, row);
  }
  return mindspore::kSuccess;
}

Status OpenClMemory::Map(void *memory, cl_map_flags flags, bool waits, void **contents) {
  Piece piece;
  MSLITE_TRY(PieceAt(memory, &piece));
  if (piece.mapped != nullptr) return Fail(mindspore::kLiteParamInvalid, "the memory is already mapped");
  const cl_bool blocks = waits ? CL_TRUE : CL_FALSE;
  cl_int error = CL_SUCCESS;
  if (piece.width == 0) {
    *contents = functions_.clEnqueueMapBuffer(device_->queue(), piece.object, blocks, flags, 0, piece.bytes, 0, nullptr,
                                              nullptr, &error);
    MSLITE_TRY(OpenClStatus(error, "clEnqueueMapBuffer"));
  } else {
    const size_t origin[3] = {0, 0, 0};
    const size_t region[3] = {piece.width, piece.height, 1};
    size_t pitch = 0;
    *contents = functions_.clEnqueueMapImage(device_->queue(), piece.object, blocks, flags, origin, region, &pitch,
                                             nullptr, 0, nullptr, nullptr, &error);
    MSLITE_TRY(OpenClStatus(error, "clEnqueueMapImage"));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  pieces_.at(memory)->mapped = *contents;
  return mindspore::kSuccess;
}

Status OpenClMemory::Unmap(void *memory) {
  Piece piece;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto place = std::find_if(pieces_.begin(), pieces_.end(), [memory](const auto &one) {
      return one.second->mapped != nullptr && (one.first == memory || one.second->mapped == memory);
    });
    if (place == pieces_.end()) return Fail(mindspore::kLiteParamInvalid, "UnmapBuffer: the memory is not mapped");
    piece = *place->second;
    place->second->mapped = nullptr;
  }
  return OpenClStatus(
      functions_.clEnqueueUnmapMemObject(device_->queue(), piece.object, piece.mapped, 0, nullptr, nullptr),
      "clEnqueueUnmapMemObject");
}
}  // namespace mslite
