// Converts a Context to the options of a session.
#ifndef MSLITE_API_SESSION_OPTIONS_H
#define MSLITE_API_SESSION_OPTIONS_H

#include <memory>

#include "exec/session.h"
#include "include/api/context.h"
#include "registry/delegation.h"

namespace mslite {
// Checks the devices of a context. Errors: kLiteParamInvalid for an empty list; kLiteNullptr for a null device;
// kLiteNotSupport if the CPU is not in the list.
Status CheckDevices(mindspore::Context *context);
// Checks the context and fills `options`. Errors: kLiteNullptr without a context; kLiteParamInvalid for invalid values;
// kLiteNotSupport for a delegate if `delegation` is null; those of CheckDevices.
MSLITE_INTERNAL_API Status ReadContext(const std::shared_ptr<mindspore::Context> &context,
                                       const std::shared_ptr<const Delegation> &delegation, SessionOptions *options);
}  // namespace mslite

#endif
