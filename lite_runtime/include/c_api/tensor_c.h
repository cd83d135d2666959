/* Tensors of the C API. Functions ignore null handles; getters then return 0 or NULL. */
#ifndef MINDSPORE_INCLUDE_C_API_TENSOR_C_H
#define MINDSPORE_INCLUDE_C_API_TENSOR_C_H

#include <stddef.h>
#include <stdint.h>

#include "include/c_api/data_type_c.h"
#include "include/c_api/format_c.h"
#include "include/c_api/types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *MSTensorHandle;

/* Creates a tensor with a copy of the data. Returns NULL for invalid arguments, and on platforms without a heap. */
MS_API MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num,
                                     const void *data, size_t data_len);
MS_API void MSTensorDestroy(MSTensorHandle *tensor);
MS_API MSTensorHandle MSTensorClone(MSTensorHandle tensor);
MS_API void MSTensorSetName(MSTensorHandle tensor, const char *name);
MS_API const char *MSTensorGetName(const MSTensorHandle tensor);
MS_API void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type);
MS_API MSDataType MSTensorGetDataType(const MSTensorHandle tensor);
/* Sets the shape. For more than MS_MAX_SHAPE_NUM dimensions, logs an error and changes nothing. */
MS_API void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num);
MS_API const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num);
MS_API void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format);
MS_API MSFormat MSTensorGetFormat(const MSTensorHandle tensor);
/* Makes the tensor refer to `data`, which must be allocated with malloc(). The tensor frees it. In generated C, the
   caller keeps the ownership. */
MS_API void MSTensorSetData(MSTensorHandle tensor, void *data);
MS_API const void *MSTensorGetData(const MSTensorHandle tensor);
/* Returns the writable data, which is allocated if the tensor has none and the platform has a heap. */
MS_API void *MSTensorGetMutableData(const MSTensorHandle tensor);
MS_API int64_t MSTensorGetElementNum(const MSTensorHandle tensor);
MS_API size_t MSTensorGetDataSize(const MSTensorHandle tensor);

#ifdef __cplusplus
}
#endif
#endif
