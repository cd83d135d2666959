// The engines of mslite that a context asks for. The folder delegate/ has them, which knows this one, not the other way
// round.
#ifndef MSLITE_REGISTRY_ENGINES_H
#define MSLITE_REGISTRY_ENGINES_H

#include <memory>
#include <string>
#include <vector>

#include "include/api/delegate.h"
#include "registry/kernel_device.h"
#include "registry/opencl_access.h"

namespace mslite {
// Delegates for a context: the built-in one that it names, then those of its devices, in its order, up to the first
// CPUDeviceInfo without a provider. `missing` gets a line for each that this library has no engine for.
std::vector<std::shared_ptr<mindspore::Delegate>> EnginesOf(mindspore::Context *context,
                                                            std::vector<std::string> *missing);

// A delegate for each engine of this library, which takes nothing, and is Placing: it says what the engine would take,
// and as its failure why the engine is not on this machine.
std::vector<std::shared_ptr<mindspore::Delegate>> SurveysOfEngines();

// The device for registered kernels of the arch GPU: the first GPU that the context prefers to the CPU. Errors:
// kLiteNotSupport, with the reason, where there is none.
Status KernelDeviceOf(mindspore::Context *context, std::shared_ptr<KernelDevice> *device);

// The device for the kernel that this thread is calling, else the first one. Errors: kLiteNotSupport where there is
// none.
Status OpenClOfThread(std::shared_ptr<OpenClAccess> *access);

// Null in a runtime that was cropped without engines (cropper/crop.py).
struct EngineFunctions {
  decltype(&EnginesOf) of_context;
  decltype(&SurveysOfEngines) surveys;
  decltype(&KernelDeviceOf) kernel_device;
  decltype(&OpenClOfThread) opencl;
};
extern "C" const EngineFunctions mslite_engines[1];
}  // namespace mslite

#endif
