// What the tables of a `.ms` file hold, field by field: written down once, for code that verifies a file and for code
// that reads the parameters of its operators.
#ifndef MSLITE_MODEL_LAYOUT_H
#define MSLITE_MODEL_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mslite {
/// How a field is stored.
enum class Wire : uint8_t {
  kBool,
  kByte,  // an enum's
  kInt,
  kLong,     // fits 32 bits, or is refused
  kAnyLong,  // no size
  kFloat,
  kDouble,
  kText,
  kBytes,
  kInts,
  kFloats,
  kLongs,  // each as kLong
  kTable,
  kTables,
  kLists,       // the table Vec2D
  kNamedBytes,  // tables Attribute
  kPrimitive,   // the table Primitive: an operator's number and its table
};

/// A field of a table, or an attribute that a Custom node has under a name.
struct Field {
  uint8_t id;  // in the table
  Wire wire;
  uint16_t place;  // in the C struct
  int32_t number;  // the default, a float's as its bits; of tables the number of their layout
};

/// A table: these four bytes, then its fields, then their names as texts one after the other. Names are left out from
/// where nobody asks for them: who reads does for kLong, kLongs and kLists, and for all of our Custom operators.
struct Layout {
  uint16_t size;  // of the C struct; 0 for tables that are no operators
  uint16_t count;

  const Field *fields() const { return reinterpret_cast<const Field *>(this + 1); }
  const char *Name(size_t index) const;
};
static_assert(sizeof(Layout) == alignof(Field) && sizeof(Field) == 8, "what follows a layout has no padding before it");

/// An operator; `custom_type` of those that are Custom nodes in a file.
struct OperatorLayout {
  int32_t op;
  const Layout *layout;  // nullptr: mslite-crop took it out
  const char *custom_type;
};

/// The root of a model.
const Layout &ModelLayout();
/// The node that has any type and attributes, which no cropping takes out.
const Layout &CustomLayout();
/// Of a field that is a table, or tables.
const Layout &InnerLayout(const Field &field);
/// The operator with that number in a file, which knows nothing of our Custom operators; nullptr for one that is not
/// declared.
const OperatorLayout *FindOperator(int32_t op);
/// Our Custom operator of that type; nullptr for one that is not declared.
const OperatorLayout *FindCustomOperator(std::string_view type);
}  // namespace mslite

#endif
