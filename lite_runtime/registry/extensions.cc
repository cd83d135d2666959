// A separate file, so that compilers do not treat the entries as constants: mslite-crop clears tables.
#include "registry/extensions.h"
#include "registry/engines.h"

namespace mslite {
extern "C" const EngineFunctions mslite_engines[1] = {{EnginesOf, SurveysOfEngines, KernelDeviceOf, OpenClOfThread}};
extern "C" const OfferFunction mslite_delegation[1] = {Delegation::Offer};
extern "C" const KernelsFunction mslite_registered[1] = {KernelsOfSession};
}  // namespace mslite
