#include "model/verify.h"

#include <algorithm>

#include "flatbuffers/flatbuffers.h"
#include "op_params.h"

namespace mslite {
namespace {
using flatbuffers::soffset_t;  // of FLATBUFFERS_MIN_BUFFER_SIZE
using flatbuffers::Table;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;

constexpr int kMaximumDepth = 64;
constexpr size_t kMaxTables = 50000000;

class TableVerifier {
 public:
  TableVerifier(const uint8_t *data, size_t size)
      : data_(data),
        size_(size),
        verifier_(data, size, kMaximumDepth, static_cast<uoffset_t>(std::min(size / 4, kMaxTables))) {}

  // Verifies the root table, to which the buffer's first offset points.
  bool Root(const Layout &layout) {
    const Table *table = Root();
    return table != nullptr && IsSound(*table, layout);
  }
  bool RootPrimitive() {
    const Table *table = Root();
    return table != nullptr && IsPrimitive(*table);
  }

 private:
  const Table *Root() const {
    const uoffset_t offset = size_ < (FLATBUFFERS_MIN_BUFFER_SIZE) ? 0 : verifier_.VerifyOffset(0);
    return offset == 0 ? nullptr : reinterpret_cast<const Table *>(data_ + offset);
  }

  bool IsSound(const Table &table, const Layout &layout) {
    if (!table.VerifyTableStart(verifier_)) return false;
    const Field *fields = layout.fields();
    const bool is_sound =
        std::all_of(fields, fields + layout.count, [&](const Field &field) { return IsSound(table, field); });
    return is_sound && verifier_.EndTable();
  }

  bool IsSound(const Table &table, const Field &field) {
    const auto slot = static_cast<voffset_t>(4 + 2 * field.id);
    switch (field.wire) {
      case Wire::kBool:
      case Wire::kByte:
        return table.VerifyField<uint8_t>(verifier_, slot, 1);
      case Wire::kInt:
      case Wire::kFloat:
        return table.VerifyField<uint32_t>(verifier_, slot, 4);
      case Wire::kLong:
      case Wire::kAnyLong:
      case Wire::kDouble:
        return table.VerifyField<uint64_t>(verifier_, slot, 8);
      default:
        return table.VerifyOffset(verifier_, slot) && LeadsToSound(table.GetPointer<const uint8_t *>(slot), field);
    }
  }

  // Verifies a text, vector or table at `place`; nullptr if the file has none.
  bool LeadsToSound(const uint8_t *place, const Field &field) {
    if (place == nullptr) return true;
    switch (field.wire) {
      case Wire::kText:
        return verifier_.VerifyString(reinterpret_cast<const flatbuffers::String *>(place));
      case Wire::kBytes:
        return verifier_.VerifyVectorOrString(place, 1);
      case Wire::kInts:
      case Wire::kFloats:
        return verifier_.VerifyVectorOrString(place, 4);
      case Wire::kLongs:
        return verifier_.VerifyVectorOrString(place, 8);
      case Wire::kTables:
      case Wire::kNamedBytes:
        return AreSound(place, InnerLayout(field));
      case Wire::kPrimitive:
        return IsPrimitive(*reinterpret_cast<const Table *>(place));
      default:
        return IsSound(*reinterpret_cast<const Table *>(place), InnerLayout(field));
    }
  }

  bool AreSound(const uint8_t *place, const Layout &layout) {
    if (!verifier_.VerifyVectorOrString(place, sizeof(uoffset_t))) return false;
    const auto &tables = *reinterpret_cast<const flatbuffers::Vector<flatbuffers::Offset<Table>> *>(place);
    for (uoffset_t i = 0; i < tables.size(); ++i) {
      if (!IsSound(*tables.Get(i), layout)) return false;
    }
    return true;
  }

  bool IsPrimitive(const Table &table) {
    constexpr voffset_t kType = 4;
    constexpr voffset_t kValue = 6;
    if (!table.VerifyTableStart(verifier_) || !table.VerifyField<uint8_t>(verifier_, kType, 1) ||
        !table.VerifyOffset(verifier_, kValue)) {
      return false;
    }
    const int32_t op = table.GetField<uint8_t>(kType, 0);
    const auto *value = table.GetPointer<const Table *>(kValue);
    const OperatorLayout *known = FindOperator(op);
    const Layout *layout = op == MSLITE_OP_Custom ? &CustomLayout() : known == nullptr ? nullptr : known->layout;
    return (value == nullptr || layout == nullptr || IsSound(*value, *layout)) && verifier_.EndTable();
  }

  const uint8_t *data_;
  size_t size_;
  flatbuffers::Verifier verifier_;
};
}  // namespace

bool VerifyTables(const uint8_t *data, size_t size, const Layout &root) { return TableVerifier(data, size).Root(root); }
bool VerifyModel(const uint8_t *data, size_t size) { return VerifyTables(data, size, ModelLayout()); }
bool VerifyPrimitive(const uint8_t *data, size_t size) { return TableVerifier(data, size).RootPrimitive(); }
}  // namespace mslite
