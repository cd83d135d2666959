#include "model/layout.h"

#include <cstring>

#include "op_params.h"

namespace mslite {
namespace {
#include "op_layouts.inc"
}  // namespace

// With C linkage, outside of namespaces: mslite-crop removes layouts from the compiled table.
extern "C" {
extern const OperatorLayout mslite_layouts[];
const OperatorLayout mslite_layouts[] = {OPERATOR_LAYOUTS};
}

const char *Layout::Name(size_t index) const {
  const char *name = reinterpret_cast<const char *>(fields() + count);
  for (; index > 0; --index) name += std::strlen(name) + 1;
  return name;
}

const Layout &ModelLayout() { return kMetaGraphLayout.layout; }
const Layout &CustomLayout() { return kCustomOperator.layout; }
const Layout &InnerLayout(const Field &field) { return *kTables[field.number]; }

const OperatorLayout *FindOperator(int32_t op) {
  for (const OperatorLayout &next : mslite_layouts) {
    if (next.op == op && next.custom_type == nullptr) return &next;
  }
  return nullptr;
}

const OperatorLayout *FindCustomOperator(std::string_view type) {
  for (const OperatorLayout &next : mslite_layouts) {
    if (next.custom_type != nullptr && type == next.custom_type) return &next;
  }
  return nullptr;
}
}  // namespace mslite
