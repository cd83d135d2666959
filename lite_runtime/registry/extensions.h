// Pointers to the functions for delegates and registered kernels. They are null in a library that was cropped for C
// programs, which cannot use either (cropper/crop.py).
#ifndef MSLITE_REGISTRY_EXTENSIONS_H
#define MSLITE_REGISTRY_EXTENSIONS_H

#include "registry/delegation.h"
#include "registry/session_kernels.h"

namespace mslite {
using OfferFunction = decltype(&Delegation::Offer);
extern "C" const OfferFunction mslite_delegation[1];
using KernelsFunction = decltype(&KernelsOfSession);
extern "C" const KernelsFunction mslite_registered[1];
}  // namespace mslite

#endif
