// In a separate file, so that no compiler inlines the entries: mslite-crop empties tables.
#include "plan/rewrite/adapter_slots.h"
#include "plan/rewrite/bind_shapes.h"
#include "plan/rewrite/needed_passes.h"

namespace mslite {
extern "C" const ExpandQuantizedFunction mslite_part_integers[1] = {ExpandQuantized};
extern "C" const ExpandTypesFunction mslite_part_types[1] = {ExpandTypes};
extern "C" const AdapterFunctions mslite_part_adapters[1] = {{ReadAdapter, AddAdapterSlots, SlotsText}};
extern "C" const decltype(&BindShapes) mslite_part_binding[1] = {BindShapes};
}  // namespace mslite
