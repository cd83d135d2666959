// From a Context to what a session needs.
#ifndef MSLITE_API_SESSION_OPTIONS_H
#define MSLITE_API_SESSION_OPTIONS_H

#include <memory>

#include "exec/session.h"
#include "include/api/context.h"
#include "registry/delegation.h"

namespace mslite {
// Errors: kLiteParamInvalid for a context without devices, kLiteNullptr for a null one, kLiteNotSupport where the CPU
// is not among them.
Status CheckDevices(mindspore::Context *context);
// Checks the context and fills `options`. Errors: kLiteNullptr without context, kLiteParamInvalid for numbers that make
// no sense, kLiteNotSupport for a delegate that no nodes were offered to; those of CheckDevices.
MSLITE_INTERNAL_API Status ReadContext(const std::shared_ptr<mindspore::Context> &context,
                                       const std::shared_ptr<const Delegation> &delegation, SessionOptions *options);
}  // namespace mslite

#endif
