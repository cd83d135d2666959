#include "api/tensor.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "api/log.h"
#include "kernel.h"
#include "model/graph.h"

namespace mindspore {
namespace {
const std::vector<int64_t> kNoShape;
}  // namespace

MSTensor TensorFor(const mslite::Tensor &source) {
  auto impl = std::make_shared<MSTensor::Impl>(source.name, static_cast<DataType>(source.type), source.dims);
  impl->format = source.format == 1 ? NHWC : static_cast<Format>(source.format);
  for (size_t i = 0; i < source.quant.size(); ++i) {
    const mslite::CalibrationRange range = i < source.ranges.size() ? source.ranges[i] : mslite::CalibrationRange();
    impl->quant_params.push_back({8, source.quant[i].scale, source.quant[i].zero_point, range.min, range.max});
    impl->rounds_half_to_even = impl->rounds_half_to_even || source.quant[i].rounds_even != 0;
  }
  return MSTensor(impl);
}

int64_t MSTensor::Impl::ElementNum() const {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || (dim != 0 && count > INT64_MAX / dim)) return -1;
    count *= dim;
  }
  return count;
}

size_t MSTensor::Impl::DataSize() const {
  if (type == DataType::kObjectTypeString) return size;
  const int64_t count = ElementNum();
  const int64_t element = mslite_type_size(static_cast<int32_t>(type));
  return count < 0 || element == 0 || count > PTRDIFF_MAX / element ? 0 : static_cast<size_t>(count * element);
}

void MSTensor::Impl::Release() {
  if (owns_data && data != nullptr) {
    if (allocator != nullptr) {
      allocator->Free(data);
    } else {
      std::free(data);
    }
  }
  data = nullptr;
  size = 0;
  owns_data = false;
  is_shown = false;
}

void *MSTensor::Impl::MutableData() {
  const size_t bytes = DataSize();
  if (data != nullptr && (is_shown || data != buffer.get() || size >= bytes)) return data;
  if (bytes == 0) return data;
  Release();
  if (allocator != nullptr) {
    data = mslite::CallOrDefault([&] { return allocator->Malloc(bytes); });  // an application's allocator may throw
    owns_data = data != nullptr;
  } else {
    if (capacity < bytes) {
      buffer.reset();
      buffer = mslite::MakeGrown(bytes, UINT64_MAX, &capacity);
    }
    if (buffer != nullptr) std::memset(buffer.get(), 0, bytes);
    data = buffer.get();
  }
  size = data == nullptr ? 0 : bytes;
  return data;
}

void MSTensor::Impl::SetData(void *pointer, bool own) {
  if (pointer != data) Release();
  data = pointer;
  size = DataSize();
  owns_data = own && pointer != nullptr;
  is_shown = false;
}

void MSTensor::Impl::Show(const void *pointer, size_t bytes) {
  Release();
  data = const_cast<void *>(pointer);
  size = bytes;
  is_shown = true;
}

bool MSTensor::Impl::Copy(const void *source, size_t bytes) {
  Release();
  buffer = mslite::MakeAligned(bytes);
  if (buffer == nullptr) return false;
  capacity = bytes;
  if (bytes != 0) std::memcpy(buffer.get(), source, bytes);
  data = buffer.get();
  size = bytes;
  return true;
}

namespace {
bool IsConsistent(const MSTensor::Impl &impl, const void *data, size_t size) {
  if ((data == nullptr) != (size == 0)) return false;
  return size == 0 || impl.type == DataType::kObjectTypeString || impl.DataSize() == size;
}
}  // namespace

MSTensor *MSTensor::CreateTensor(const std::string &name, enum DataType type, const std::vector<int64_t> &shape,
                                 const void *data, size_t data_len, const std::string &, int) noexcept {
  try {
    auto impl = std::make_shared<Impl>(name, type, shape);
    if (!IsConsistent(*impl, data, data_len)) return nullptr;
    if (data_len != 0 && !impl->Copy(data, data_len)) return nullptr;
    return new MSTensor(impl);
  } catch (const std::exception &) {
    return nullptr;
  }
}

MSTensor *MSTensor::CreateTensor(const std::string &name, const MSTensor &tensor, const std::string &, int) noexcept {
  try {
    MSTensor *copy = tensor.Clone();
    if (copy != nullptr) copy->SetTensorName(name);
    return copy;
  } catch (const std::exception &) {
    return nullptr;
  }
}

MSTensor *MSTensor::CreateRefTensor(const std::string &name, enum DataType type, const std::vector<int64_t> &shape,
                                    const void *data, size_t data_len, bool own_data) noexcept {
  try {
    auto impl = std::make_shared<Impl>(name, type, shape);
    if (data == nullptr || !IsConsistent(*impl, data, data_len)) return nullptr;
    impl->SetData(const_cast<void *>(data), own_data);
    impl->size = data_len;
    return new MSTensor(impl);
  } catch (const std::exception &) {
    return nullptr;
  }
}

MSTensor MSTensor::CreateDeviceTensor(const std::string &, enum DataType, const std::vector<int64_t> &, void *,
                                      size_t) noexcept {
  return MSTensor(nullptr);  // device memory is not supported
}

MSTensor *MSTensor::CreateTensorFromFile(const std::string &file, enum DataType type,
                                         const std::vector<int64_t> &shape) noexcept {
  try {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return nullptr;
    const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    const int64_t element = mslite_type_size(static_cast<int32_t>(type));
    if (bytes.empty() || element == 0) return nullptr;
    const std::vector<int64_t> dims =
        shape.empty() ? std::vector<int64_t>{static_cast<int64_t>(bytes.size()) / element} : shape;
    return CreateTensor(file, type, dims, bytes.data(), bytes.size());
  } catch (const std::exception &) {
    return nullptr;
  }
}

namespace {
// Layout: int32 n, int32 offsets[n + 1] from the start of the data, bytes of the strings.
MSTensor *PackStrings(const std::string &name, const std::vector<std::string> &strings) {
  std::vector<int32_t> header = {static_cast<int32_t>(strings.size())};
  int64_t offset = 4 * (static_cast<int64_t>(strings.size()) + 2);
  for (const std::string &text : strings) {
    header.push_back(static_cast<int32_t>(offset));
    offset += static_cast<int64_t>(text.size());
    if (offset > INT32_MAX) return nullptr;
  }
  header.push_back(static_cast<int32_t>(offset));
  std::string bytes(reinterpret_cast<const char *>(header.data()), header.size() * 4);
  for (const std::string &text : strings) bytes += text;
  return MSTensor::CreateTensor(name, DataType::kObjectTypeString, {static_cast<int64_t>(bytes.size())}, bytes.data(),
                                bytes.size());
}

std::vector<std::string> UnpackStrings(const MSTensor &tensor) {
  std::vector<std::string> strings;
  const auto *bytes = static_cast<const char *>(tensor.Data().get());
  const size_t size = tensor.DataSize();
  const auto number = [&](size_t index) {
    int32_t value = -1;
    if (size >= 4 && index <= size / 4 - 1) std::memcpy(&value, bytes + 4 * index, 4);
    return value;
  };
  if (bytes == nullptr || tensor.DataType() != DataType::kObjectTypeString) return strings;
  for (int32_t i = 0; i < number(0); ++i) {
    const int32_t begin = number(static_cast<size_t>(i) + 1);
    const int32_t end = number(static_cast<size_t>(i) + 2);
    if (begin < 0 || end < begin || static_cast<size_t>(end) > size) return {};
    strings.emplace_back(bytes + begin, static_cast<size_t>(end - begin));
  }
  return strings;
}
}  // namespace

MSTensor *MSTensor::StringsToTensor(const std::string &name, const std::vector<std::string> &strings) {
  return mslite::CallOrDefault([&] { return PackStrings(name, strings); });
}

std::vector<std::string> MSTensor::TensorToStrings(const MSTensor &tensor) {
  return mslite::CallOrDefault([&] { return UnpackStrings(tensor); });
}

void MSTensor::DestroyTensorPtr(MSTensor *tensor) noexcept { delete tensor; }

MSTensor::MSTensor() : impl_(mslite::CallOrDefault([] { return std::make_shared<Impl>(); })) {}
MSTensor::MSTensor(const std::shared_ptr<Impl> &impl) : impl_(impl) {}
MSTensor::MSTensor(std::nullptr_t) {}
MSTensor::MSTensor(const std::string &name, enum DataType type, const std::vector<int64_t> &shape, const void *data,
                   size_t data_len)
    : impl_(mslite::CallOrDefault([&] { return std::make_shared<Impl>(name, type, shape); })) {
  if (impl_ != nullptr && data != nullptr && data_len != 0 && IsConsistent(*impl_, data, data_len))
    impl_->Copy(data, data_len);
}
MSTensor::~MSTensor() = default;

std::string MSTensor::Name() const { return impl_ == nullptr ? "" : impl_->name; }
enum DataType MSTensor::DataType() const { return impl_ == nullptr ? DataType::kTypeUnknown : impl_->type; }
const std::vector<int64_t> &MSTensor::Shape() const { return impl_ == nullptr ? kNoShape : impl_->shape; }
int64_t MSTensor::ElementNum() const { return impl_ == nullptr ? -1 : impl_->ElementNum(); }
std::shared_ptr<const void> MSTensor::Data() const {
  return impl_ == nullptr || impl_->data == nullptr ? nullptr : std::shared_ptr<const void>(impl_, impl_->data);
}
void *MSTensor::MutableData() { return impl_ == nullptr ? nullptr : impl_->MutableData(); }
size_t MSTensor::DataSize() const { return impl_ == nullptr ? 0 : impl_->DataSize(); }
std::string MSTensor::GetDevice() const { return ""; }
int MSTensor::GetDeviceId() const { return -1; }
bool MSTensor::IsConst() const { return impl_ != nullptr && impl_->is_const; }
bool MSTensor::IsDevice() const { return false; }

MSTensor *MSTensor::Clone() const {
  if (impl_ == nullptr || impl_->ElementNum() < 0) return nullptr;
  return mslite::CallOrDefault([&]() -> MSTensor * {
    auto copy = std::make_shared<Impl>(impl_->name, impl_->type, impl_->shape);
    copy->format = impl_->format;
    copy->quant_params = impl_->quant_params;
    if (impl_->data != nullptr && impl_->DataSize() != 0 && !copy->Copy(impl_->data, impl_->DataSize())) return nullptr;
    return new MSTensor(copy);
  });
}

bool MSTensor::operator==(std::nullptr_t) const { return impl_ == nullptr; }
bool MSTensor::operator!=(std::nullptr_t) const { return impl_ != nullptr; }
bool MSTensor::operator==(const MSTensor &tensor) const { return impl_ == tensor.impl_; }
bool MSTensor::operator!=(const MSTensor &tensor) const { return impl_ != tensor.impl_; }

void MSTensor::SetShape(const std::vector<int64_t> &shape) {
  mslite::LogFailure([&] {
    if (impl_ != nullptr) impl_->shape = shape;
  });
}
void MSTensor::SetDataType(enum DataType type) {
  if (impl_ != nullptr) impl_->type = type;
}
void MSTensor::SetTensorName(const std::string &name) {
  mslite::LogFailure([&] {
    if (impl_ != nullptr) impl_->name = name;
  });
}
void MSTensor::SetAllocator(std::shared_ptr<Allocator> allocator) {
  if (impl_ == nullptr) return;
  impl_->Release();
  impl_->allocator = std::move(allocator);
}
std::shared_ptr<Allocator> MSTensor::allocator() const { return impl_ == nullptr ? nullptr : impl_->allocator; }
void MSTensor::SetFormat(mindspore::Format format) {
  if (impl_ != nullptr) impl_->format = format;
}
mindspore::Format MSTensor::format() const { return impl_ == nullptr ? DEFAULT_FORMAT : impl_->format; }
void MSTensor::SetData(void *data, bool own_data) {
  if (impl_ != nullptr) impl_->SetData(data, own_data);
}
void MSTensor::SetDeviceData(void *) {}
void *MSTensor::GetDeviceData() { return nullptr; }
std::vector<QuantParam> MSTensor::QuantParams() const {
  return impl_ == nullptr ? std::vector<QuantParam>() : impl_->quant_params;
}
void MSTensor::SetQuantParams(std::vector<QuantParam> quant_params) {
  if (impl_ != nullptr) impl_->quant_params = std::move(quant_params);
}
}  // namespace mindspore
