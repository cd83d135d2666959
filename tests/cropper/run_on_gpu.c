/* run_on_gpu MODEL.ms: asks for the GPU before the CPU, and says by its exit status whether the model is built. */
#include <stddef.h>

#include "include/c_api/model_c.h"

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeGPU));
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  MSModelHandle model = MSModelCreate();
  const MSStatus status = MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context);
  MSModelDestroy(&model);
  return status == kMSStatusSuccess ? 0 : 1;
}
