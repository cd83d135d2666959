// Describes the tables of a `.ms` file field by field, for code that verifies a file and code that reads operator
// parameters.
#ifndef MSLITE_MODEL_LAYOUT_H
#define MSLITE_MODEL_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mslite {
/// How a field is stored.
enum class Wire : uint8_t {
  kBool,
  kByte,  // an enum
  kInt,
  kLong,     // must fit 32 bits, otherwise an error
  kAnyLong,  // not a size, 64 bits
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
  kPrimitive,   // the table Primitive: the number and the table of an operator
};

/// A field of a table, or a named attribute of a Custom node.
struct Field {
  uint8_t id;  // slot in the table
  Wire wire;
  uint16_t place;  // offset in the C struct
  int32_t number;  // the default value (for floats: its bits); for tables the number of their layout
};

/// A table: these four bytes, followed by its fields and then their names, terminated by 0. Names that are never read
/// are left out: readers need them for kLong, kLongs and kLists, and for all of mslite's Custom operators.
struct Layout {
  uint16_t size;  // size of the C struct; 0 for tables that are not operators
  uint16_t count;

  const Field *fields() const { return reinterpret_cast<const Field *>(this + 1); }
  const char *Name(size_t index) const;
};
static_assert(sizeof(Layout) == alignof(Field) && sizeof(Field) == 8, "what follows a layout has no padding before it");

/// An operator. `custom_type` is set for mslite's Custom operators.
struct OperatorLayout {
  int32_t op;
  const Layout *layout;  // nullptr: removed by mslite-crop
  const char *custom_type;
};

/// Returns the layout of the root table of a model.
const Layout &ModelLayout();
/// Returns the layout of Custom nodes with any type and attributes. It is never cropped.
const Layout &CustomLayout();
/// Returns the layout of the tables in a field.
const Layout &InnerLayout(const Field &field);
/// Returns the operator with this number in a file, without mslite's Custom operators; nullptr if it is not declared.
const OperatorLayout *FindOperator(int32_t op);
/// Returns mslite's Custom operator of this type; nullptr if it is not declared.
const OperatorLayout *FindCustomOperator(std::string_view type);
}  // namespace mslite

#endif
