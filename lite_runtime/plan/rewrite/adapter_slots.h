// Adds slots for a low-rank adapter to a graph.
#ifndef MSLITE_PLAN_REWRITE_ADAPTER_SLOTS_H
#define MSLITE_PLAN_REWRITE_ADAPTER_SLOTS_H

#include <string>

#include "model/adapter.h"

namespace mslite {
// Makes every matmul that an adapter changes add the product of two variables, which have the names of the adapter's
// constants and are zero until they are set. Constants that the adapter replaces become variables with their names.
// Must run before all other rewriting. Errors: kLiteParamInvalid for an adapter of another model (a missing weight, or
// other sizes); kLiteNotSupport for a weight that is read by nodes other than matmuls, or by integer matmuls.
Status AddAdapterSlots(const Adapter &adapter, Graph *graph);

// Returns a text that is equal for two adapters exactly if they add the same slots to every graph.
std::string SlotsText(const Adapter &adapter);

// Null in a runtime that was cropped without adapters (cropper/crop.py).
struct AdapterFunctions {
  decltype(&ReadAdapter) read;
  decltype(&AddAdapterSlots) add_slots;
  decltype(&SlotsText) slots_text;
};
extern "C" const AdapterFunctions mslite_part_adapters[1];
}  // namespace mslite

#endif
