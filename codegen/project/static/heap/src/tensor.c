#include "tensor.h"

#include <stdlib.h>
#include <string.h>

static size_t ElementSize(MSDataType type) {
  switch (type) {
    case kMSDataTypeNumberTypeBool:
    case kMSDataTypeNumberTypeInt8:
    case kMSDataTypeNumberTypeUInt8:
      return 1;
    case kMSDataTypeNumberTypeInt16:
    case kMSDataTypeNumberTypeUInt16:
    case kMSDataTypeNumberTypeFloat16:
      return 2;
    case kMSDataTypeNumberTypeInt32:
    case kMSDataTypeNumberTypeUInt32:
    case kMSDataTypeNumberTypeFloat32:
      return 4;
    case kMSDataTypeNumberTypeInt64:
    case kMSDataTypeNumberTypeUInt64:
    case kMSDataTypeNumberTypeFloat64:
      return 8;
    default:
      return 0;
  }
}

static char *Copy(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

static void ReleaseData(MicroTensor *tensor) {
  if (tensor->owns_data) free(tensor->data);
  tensor->data = NULL;
  tensor->owns_data = false;
}

void MicroTensorRelease(MicroTensor *tensor) {
  ReleaseData(tensor);
  if (tensor->own_name != NULL && tensor->name == tensor->own_name) tensor->name = "";
  free(tensor->own_name);
  tensor->own_name = NULL;
}

static void SetShape(MicroTensor *tensor, const int64_t *shape, size_t rank) {
  for (size_t i = 0; i < rank; ++i) tensor->shape[i] = shape[i];
  tensor->rank = rank;
}

void MicroTensorReshape(MicroTensor *tensor, const int64_t *shape, size_t rank) {
  ReleaseData(tensor);
  SetShape(tensor, shape, rank);
}

MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num,
                              const void *data, size_t data_len) {
  if (name == NULL || shape_num > MICRO_MAX_RANK || (shape == NULL && shape_num > 0)) return NULL;
  MicroTensor *tensor = calloc(1, sizeof *tensor);
  if (tensor == NULL) return NULL;
  MSTensorHandle handle = tensor;
  tensor->own_name = Copy(name);
  tensor->name = tensor->own_name;
  tensor->type = type;
  tensor->format = kMSFormatNHWC;
  MSTensorSetShape(tensor, shape, shape_num);
  const size_t size = MSTensorGetDataSize(tensor);
  void *copied = NULL;
  if (data != NULL && size == data_len) copied = MSTensorGetMutableData(tensor);
  if (tensor->own_name == NULL || (data != NULL && copied == NULL)) {
    MSTensorDestroy(&handle);
    return NULL;
  }
  if (copied != NULL) memcpy(copied, data, size);
  return handle;
}

void MSTensorDestroy(MSTensorHandle *tensor) {
  if (tensor == NULL || *tensor == NULL) return;
  MicroTensor *micro = *tensor;
  *tensor = NULL;
  if (micro->of_model) return;
  MicroTensorRelease(micro);
  free(micro);
}

MSTensorHandle MSTensorClone(MSTensorHandle tensor) {
  if (tensor == NULL) return NULL;
  const MicroTensor *source = tensor;
  MicroTensor *clone = MSTensorCreate(source->name, source->type, source->shape, source->rank, source->data,
                                      MSTensorGetDataSize(tensor));
  if (clone != NULL) clone->format = source->format;
  return clone;
}

void MSTensorSetName(MSTensorHandle tensor, const char *name) {
  if (tensor == NULL || name == NULL) return;
  MicroTensor *micro = tensor;
  char *copy = Copy(name);
  if (copy == NULL) return;
  free(micro->own_name);
  micro->own_name = copy;
  micro->name = copy;
}

const char *MSTensorGetName(const MSTensorHandle tensor) {
  return tensor == NULL ? NULL : ((const MicroTensor *)tensor)->name;
}

/* This function and MSTensorSetShape have no effect on the model's own tensors, because the code was generated for
 * their data types and shapes. */
void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type) {
  MicroTensor *micro = tensor;
  if (micro == NULL || micro->of_model) return;
  ReleaseData(micro);
  micro->type = type;
}

MSDataType MSTensorGetDataType(const MSTensorHandle tensor) {
  return tensor == NULL ? kMSDataTypeUnknown : ((const MicroTensor *)tensor)->type;
}

void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num) {
  if (tensor == NULL || shape_num > MICRO_MAX_RANK || (shape == NULL && shape_num > 0)) return;
  MicroTensor *micro = tensor;
  if (micro->of_model) return;
  ReleaseData(micro);
  SetShape(micro, shape, shape_num);
}

const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num) {
  if (shape_num == NULL) return NULL;
  *shape_num = 0;
  if (tensor == NULL) return NULL;
  const MicroTensor *micro = tensor;
  *shape_num = micro->rank;
  return micro->shape;
}

void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format) {
  if (tensor != NULL) ((MicroTensor *)tensor)->format = format;
}

MSFormat MSTensorGetFormat(const MSTensorHandle tensor) {
  return tensor == NULL ? kMSFormatNHWC : ((const MicroTensor *)tensor)->format;
}

void MSTensorSetData(MSTensorHandle tensor, void *data) {
  if (tensor == NULL) return;
  MicroTensor *micro = tensor;
  if (micro->data == data) return;
  ReleaseData(micro);
  micro->data = data;
}

const void *MSTensorGetData(const MSTensorHandle tensor) {
  return tensor == NULL ? NULL : ((const MicroTensor *)tensor)->data;
}

void *MSTensorGetMutableData(const MSTensorHandle tensor) {
  if (tensor == NULL) return NULL;
  MicroTensor *micro = tensor;
  const size_t size = MSTensorGetDataSize(tensor);
  if (micro->data == NULL && size > 0) {
    micro->data = malloc(size);
    micro->owns_data = micro->data != NULL;
  }
  return micro->data;
}

int64_t MSTensorGetElementNum(const MSTensorHandle tensor) {
  if (tensor == NULL) return 0;
  const MicroTensor *micro = tensor;
  int64_t count = 1;
  for (size_t i = 0; i < micro->rank; ++i) {
    const int64_t size = micro->shape[i];
    if (size < 0 || (size > 0 && count > INT64_MAX / 16 / size)) return 0;
    count *= size;
  }
  return count;
}

size_t MSTensorGetDataSize(const MSTensorHandle tensor) {
  const uint64_t size = (uint64_t)MSTensorGetElementNum(tensor) * ElementSize(MSTensorGetDataType(tensor));
  return size > SIZE_MAX ? 0 : (size_t)size;
}
