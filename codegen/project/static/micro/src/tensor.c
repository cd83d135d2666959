#include "tensor.h"

/* Names, data types, shapes and layouts are fixed: the functions that set them have no effect, and tensors cannot be
 * created. */
MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num,
                              const void *data, size_t data_len) {
  (void)name, (void)type, (void)shape, (void)shape_num, (void)data, (void)data_len;
  return NULL;
}

void MSTensorDestroy(MSTensorHandle *tensor) {
  if (tensor != NULL) *tensor = NULL;
}

MSTensorHandle MSTensorClone(MSTensorHandle tensor) {
  (void)tensor;
  return NULL;
}

void MSTensorSetName(MSTensorHandle tensor, const char *name) { (void)tensor, (void)name; }

void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type) { (void)tensor, (void)type; }

void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num) {
  (void)tensor, (void)shape, (void)shape_num;
}

void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format) { (void)tensor, (void)format; }

static const MicroTensorInfo *Info(const MSTensorHandle tensor) { return ((const MicroTensor *)tensor)->info; }

const char *MSTensorGetName(const MSTensorHandle tensor) { return tensor == NULL ? NULL : Info(tensor)->name; }

MSDataType MSTensorGetDataType(const MSTensorHandle tensor) {
  return tensor == NULL ? kMSDataTypeUnknown : Info(tensor)->type;
}

const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num) {
  if (shape_num == NULL) return NULL;
  *shape_num = tensor == NULL ? 0 : Info(tensor)->rank;
  return tensor == NULL ? NULL : Info(tensor)->shape;
}

MSFormat MSTensorGetFormat(const MSTensorHandle tensor) {
  return tensor == NULL ? kMSFormatNHWC : Info(tensor)->format;
}

void MSTensorSetData(MSTensorHandle tensor, void *data) {
  if (tensor != NULL) ((MicroTensor *)tensor)->data = data;
}

const void *MSTensorGetData(const MSTensorHandle tensor) { return MSTensorGetMutableData(tensor); }

void *MSTensorGetMutableData(const MSTensorHandle tensor) {
  return tensor == NULL ? NULL : ((MicroTensor *)tensor)->data;
}

int64_t MSTensorGetElementNum(const MSTensorHandle tensor) { return tensor == NULL ? 0 : Info(tensor)->element_count; }

size_t MSTensorGetDataSize(const MSTensorHandle tensor) { return tensor == NULL ? 0 : Info(tensor)->size; }
