// Whether a call computes on quantised integers, which only kernels made for that may do.
#ifndef MSLITE_PLAN_QUANTISED_H
#define MSLITE_PLAN_QUANTISED_H

#include <string>

#include "kernel.h"

namespace mslite {

/// "" when any kernel may run the call. Otherwise why not: it computes on 8-bit or 16-bit integers that stand for
/// scale * (q - zero point) (they carry quantisation records, or the whole node is quantised), and this library has no
/// kernel for that. Operators that only move values may, when all that they move has the same records; QuantDTypeCast
/// reads the records itself.
std::string QuantisedProblem(const mslite_node &node);

}  // namespace mslite

#endif
