// The C API of tensors.
#include "api/c_handles.h"
#include "include/c_api/model_c.h"
#include "include/c_api/tensor_c.h"

namespace {
using mslite::CTensor;
CTensor *To(const MSTensorHandle handle) { return static_cast<CTensor *>(handle); }
}  // namespace

MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num,
                              const void *data, size_t data_len) {
  if (name == nullptr || (shape == nullptr && shape_num != 0) || shape_num > MS_MAX_SHAPE_NUM) return nullptr;
  return mslite::CallOrDefault([&]() -> CTensor * {
    const std::vector<int64_t> dims(shape, shape + shape_num);
    const std::unique_ptr<mindspore::MSTensor> tensor(
        mindspore::MSTensor::CreateTensor(name, static_cast<mindspore::DataType>(type), dims, data, data_len));
    return tensor == nullptr ? nullptr : new CTensor(*tensor);
  });
}
void MSTensorDestroy(MSTensorHandle *tensor) {
  if (tensor == nullptr) return;
  delete To(*tensor);
  *tensor = nullptr;
}
MSTensorHandle MSTensorClone(MSTensorHandle tensor) {
  if (tensor == nullptr) return nullptr;
  return mslite::CallOrDefault([tensor]() -> CTensor * {
    const std::unique_ptr<mindspore::MSTensor> copy(To(tensor)->tensor.Clone());
    return copy == nullptr ? nullptr : new CTensor(*copy);
  });
}
void MSTensorSetName(MSTensorHandle tensor, const char *name) {
  if (tensor == nullptr || name == nullptr) return;
  mslite::LogFailure([&] {
    To(tensor)->name = name;
    To(tensor)->tensor.SetTensorName(name);
  });
}
const char *MSTensorGetName(const MSTensorHandle tensor) {
  return tensor == nullptr ? nullptr : To(tensor)->name.c_str();
}
void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type) {
  if (tensor != nullptr) To(tensor)->tensor.SetDataType(static_cast<mindspore::DataType>(type));
}
MSDataType MSTensorGetDataType(const MSTensorHandle tensor) {
  return tensor == nullptr ? kMSDataTypeUnknown : static_cast<MSDataType>(To(tensor)->tensor.DataType());
}
void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num) {
  if (tensor == nullptr || (shape == nullptr && shape_num != 0)) return;
  mslite::Logged(mslite::Guard([&]() -> mindspore::Status {
    if (shape_num > MS_MAX_SHAPE_NUM) {
      return {mindspore::kLiteParamInvalid,
              "MSTensorSetShape: shape_num exceeds MS_MAX_SHAPE_NUM; the shape is not changed"};
    }
    To(tensor)->tensor.SetShape(std::vector<int64_t>(shape, shape + shape_num));
    return mindspore::kSuccess;
  }));
}
const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num) {
  if (tensor == nullptr || shape_num == nullptr) return nullptr;
  *shape_num = To(tensor)->tensor.Shape().size();
  return To(tensor)->tensor.Shape().data();
}
void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format) {
  if (tensor != nullptr) To(tensor)->tensor.SetFormat(static_cast<mindspore::Format>(format));
}
MSFormat MSTensorGetFormat(const MSTensorHandle tensor) {
  return tensor == nullptr ? kMSFormatNHWC : static_cast<MSFormat>(To(tensor)->tensor.format());
}
void MSTensorSetData(MSTensorHandle tensor, void *data) {
  if (tensor != nullptr) To(tensor)->tensor.SetData(data, true);
}
const void *MSTensorGetData(const MSTensorHandle tensor) {
  return tensor == nullptr ? nullptr : To(tensor)->tensor.Data().get();
}
void *MSTensorGetMutableData(const MSTensorHandle tensor) {
  return tensor == nullptr ? nullptr : To(tensor)->tensor.MutableData();
}
int64_t MSTensorGetElementNum(const MSTensorHandle tensor) {
  return tensor == nullptr ? 0 : To(tensor)->tensor.ElementNum();
}
size_t MSTensorGetDataSize(const MSTensorHandle tensor) {
  return tensor == nullptr ? 0 : To(tensor)->tensor.DataSize();
}
