// The backends of mslite for a context. They are in the folder delegate/, which depends on this folder.
#ifndef MSLITE_REGISTRY_ENGINES_H
#define MSLITE_REGISTRY_ENGINES_H

#include <memory>
#include <string>
#include <vector>

#include "include/api/delegate.h"
#include "registry/kernel_device.h"
#include "registry/opencl_access.h"

namespace mslite {
// Returns the delegates of a context: the built-in one, then those of its devices, in order, up to the first
// CPUDeviceInfo without a provider. `missing` gets a message for each device without a backend in this library.
std::vector<std::shared_ptr<mindspore::Delegate>> EnginesOf(mindspore::Context *context,
                                                            std::vector<std::string> *missing);

// Returns a delegate for each backend of this library that replaces no nodes. Its placements are the nodes that the
// backend supports, and its failure is the reason why the backend is not available.
std::vector<std::shared_ptr<mindspore::Delegate>> SurveysOfEngines();

// Returns the device for registered kernels of the arch GPU: the first GPU that the context prefers to the CPU. Errors:
// kLiteNotSupport, with the reason, if there is none.
Status KernelDeviceOf(mindspore::Context *context, std::shared_ptr<KernelDevice> *device);

// Returns the device of the kernel that this thread is calling, else the first device. Errors: kLiteNotSupport if there
// is none.
Status OpenClOfThread(std::shared_ptr<OpenClAccess> *access);

// Null in a runtime that was cropped without backends (cropper/crop.py).
struct EngineFunctions {
  decltype(&EnginesOf) of_context;
  decltype(&SurveysOfEngines) surveys;
  decltype(&KernelDeviceOf) kernel_device;
  decltype(&OpenClOfThread) opencl;
};
extern "C" const EngineFunctions mslite_engines[1];
}  // namespace mslite

#endif
