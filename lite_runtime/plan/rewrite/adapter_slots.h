// Places for a low-rank adapter in a graph.
#ifndef MSLITE_PLAN_REWRITE_ADAPTER_SLOTS_H
#define MSLITE_PLAN_REWRITE_ADAPTER_SLOTS_H

#include <string>

#include "model/adapter.h"

namespace mslite {
// Lets the products that an adapter changes add what variables with the names of its constants say: zeros, until they
// are given contents. Constants that it gives other contents become variables of their names. Before any rewriting.
// Errors: kLiteParamInvalid for an adapter of another model: a weight that is not there, or of other sizes;
// kLiteNotSupport for a weight that something else than products reads, or products of integers.
Status AddAdapterSlots(const Adapter &adapter, Graph *graph);

// Says of two adapters that any graph gets the same slots by both.
std::string SlotsText(const Adapter &adapter);

// Null in a runtime that was cropped without adapters (cropper/crop.py), which then never has one.
struct AdapterFunctions {
  decltype(&ReadAdapter) read;
  decltype(&AddAdapterSlots) add_slots;
  decltype(&SlotsText) slots_text;
};
extern "C" const AdapterFunctions mslite_part_adapters[1];
}  // namespace mslite

#endif
