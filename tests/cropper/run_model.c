/* run_model model.ms input output [rows]: runs a model through the C API, on the bytes of `input` for its only input,
 * resized to `rows` rows if wanted; writes the bytes of all results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_api/model_c.h"

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  MSModelHandle model = MSModelCreate();
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  if (MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context) != kMSStatusSuccess) return 1;
  MSTensorHandleArray inputs = MSModelGetInputs(model);
  if (argc > 4) {
    MSShapeInfo shape = {0};
    const int64_t *dims = MSTensorGetShape(inputs.handle_list[0], &shape.shape_num);
    memcpy(shape.shape, dims, shape.shape_num * sizeof *dims);
    shape.shape[0] = atoi(argv[4]);
    if (MSModelResize(model, inputs, &shape, 1) != kMSStatusSuccess) return 1;
    inputs = MSModelGetInputs(model);
  }
  FILE *file = fopen(argv[2], "rb");
  const size_t size = MSTensorGetDataSize(inputs.handle_list[0]);
  if (file == NULL || fread(MSTensorGetMutableData(inputs.handle_list[0]), 1, size, file) != size) return 2;
  fclose(file);
  MSTensorHandleArray outputs = {0};
  if (MSModelPredict(model, inputs, &outputs, NULL, NULL) != kMSStatusSuccess) return 1;
  file = fopen(argv[3], "wb");
  for (size_t i = 0; file != NULL && i < outputs.handle_num; ++i) {
    fwrite(MSTensorGetData(outputs.handle_list[i]), 1, MSTensorGetDataSize(outputs.handle_list[i]), file);
  }
  return file == NULL || fclose(file) != 0;
}
