#include "model/unpack.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "model/layout.h"
#include "op_params.h"
#include "schema/ops_generated.h"

namespace mslite::unpack {
namespace {
constexpr size_t kBlockBytes = 16 * 1024;

// FlatBuffers scalars are little-endian, like all targets, so a vector of them is a C array.
static_assert(FLATBUFFERS_LITTLEENDIAN, "the file's numbers are read in place");

// The source and the destination of one field.
struct Reading {
  const Layout *layout;
  size_t index;
  unsigned char *params;
  Arena *arena;

  const Field &field() const { return layout->fields()[index]; }

  template <typename T>
  void Put(const T &value) const {
    std::memcpy(params + field().place, &value, sizeof value);
  }

  // Sizes must fit 32 bits, so that products of sizes in shape rules and kernels fit 64 bits.
  void Check(int64_t number) const {
    if (number < INT32_MIN || number > INT32_MAX) arena->Refuse(layout->Name(index));
  }

  template <typename List, typename T>
  List ViewOrCopy(const void *data, size_t count) const {
    List list{static_cast<int32_t>(count), nullptr};
    if (count == 0) return list;
    if (reinterpret_cast<uintptr_t>(data) % alignof(T) == 0) {
      list.at = static_cast<const T *>(data);
      return list;
    }
    T *copy = arena->MakeArray<T>(count);
    std::memcpy(copy, data, count * sizeof(T));
    list.at = copy;
    return list;
  }

  mslite_longs Longs(const void *data, size_t count) const {
    const auto list = ViewOrCopy<mslite_longs, int64_t>(data, count);
    for (int32_t i = 0; i < list.count; ++i) Check(list.at[i]);
    return list;
  }

  // Copies a value of 1, 4 or 8 bytes from the file, or stores the default.
  void PutNumber(const void *data) const {
    if (field().wire == Wire::kBool) {
      uint8_t number = static_cast<uint8_t>(field().number);
      if (data != nullptr) std::memcpy(&number, data, sizeof number);
      Put(number != 0);
    } else if (field().wire == Wire::kByte) {
      int8_t number = static_cast<int8_t>(field().number);
      if (data != nullptr) std::memcpy(&number, data, sizeof number);
      Put(int32_t{number});
    } else if (field().wire == Wire::kLong || field().wire == Wire::kAnyLong) {
      int64_t number = field().number;
      if (data != nullptr) std::memcpy(&number, data, sizeof number);
      if (field().wire == Wire::kLong) Check(number);
      Put(number);
    } else {  // also a float, by its bits
      int32_t number = field().number;
      if (data != nullptr) std::memcpy(&number, data, sizeof number);
      Put(number);
    }
  }

  void PutVector(const void *data, size_t count) const {
    if (field().wire == Wire::kLongs) {
      Put(Longs(data, count));
    } else if (field().wire == Wire::kInts) {
      Put(ViewOrCopy<mslite_ints, int32_t>(data, count));
    } else {
      Put(ViewOrCopy<mslite_floats, float>(data, count));
    }
  }
};

size_t BytesOf(Wire wire) {
  switch (wire) {
    case Wire::kBool:
    case Wire::kByte:
      return 1;
    case Wire::kLong:
    case Wire::kAnyLong:
    case Wire::kLongs:
      return 8;
    default:
      return 4;
  }
}

bool IsNumber(Wire wire) { return wire <= Wire::kDouble; }

// The verifier has checked the terminating zero of every string.
const char *Text(const flatbuffers::String *text) { return text == nullptr ? nullptr : text->c_str(); }

mslite_vec2d Lists(const schema::Vec2D *table, const Reading &reading) {
  if (table == nullptr || table->data() == nullptr) return {};
  const auto &rows = *table->data();
  auto *lists = reading.arena->MakeArray<mslite_longs>(rows.size());
  for (flatbuffers::uoffset_t i = 0; i < rows.size(); ++i) {
    const auto *row = rows.Get(i)->data();
    if (row != nullptr) lists[i] = reading.Longs(row->Data(), row->size());
  }
  return {static_cast<int32_t>(rows.size()), lists};
}

using Attributes = flatbuffers::Vector<flatbuffers::Offset<schema::Attribute>>;

mslite_named_bytes_list NamedBytes(const Attributes *attributes, Arena *arena) {
  if (attributes == nullptr) return {};
  auto *list = arena->MakeArray<mslite_named_bytes>(attributes->size());
  for (flatbuffers::uoffset_t i = 0; i < attributes->size(); ++i) {
    const schema::Attribute &attribute = *attributes->Get(i);
    list[i].name = Text(attribute.name());
    if (attribute.data() != nullptr) {
      list[i].size = static_cast<int32_t>(attribute.data()->size());
      list[i].data = attribute.data()->data();
    }
  }
  return {static_cast<int32_t>(attributes->size()), list};
}

void ReadField(const flatbuffers::Table &table, const Reading &reading) {
  const Field &field = reading.field();
  const auto slot = static_cast<flatbuffers::voffset_t>(4 + 2 * field.id);
  if (IsNumber(field.wire)) return reading.PutNumber(table.GetAddressOf(slot));
  switch (field.wire) {
    case Wire::kText:
      return reading.Put(Text(table.GetPointer<const flatbuffers::String *>(slot)));
    case Wire::kLists:
      return reading.Put(Lists(table.GetPointer<const schema::Vec2D *>(slot), reading));
    case Wire::kNamedBytes:
      return reading.Put(NamedBytes(table.GetPointer<const Attributes *>(slot), reading.arena));
    default:
      // The element size affects neither the start nor the count.
      if (const auto *vector = table.GetPointer<const flatbuffers::Vector<uint8_t> *>(slot); vector != nullptr) {
        reading.PutVector(vector->Data(), vector->size());
      }
  }
}

// ---- attributes of mslite's Custom operators: little-endian bytes with a name ----

const flatbuffers::Vector<uint8_t> *FindAttribute(const schema::Custom &table, std::string_view name) {
  if (table.attr() == nullptr) return nullptr;
  for (const schema::Attribute *attribute : *table.attr()) {
    if (attribute->name() != nullptr && attribute->name()->string_view() == name) return attribute->data();
  }
  return nullptr;
}

// An attribute that is missing or has a wrong number of bytes gets its default.
void ReadAttribute(const schema::Custom &table, const Reading &reading) {
  const auto *bytes = FindAttribute(table, reading.layout->Name(reading.index));
  const Wire wire = reading.field().wire;
  const size_t width = BytesOf(wire);
  if (IsNumber(wire)) {
    reading.PutNumber(bytes != nullptr && bytes->size() == width ? bytes->data() : nullptr);
  } else if (bytes == nullptr) {
    return;
  } else if (wire == Wire::kText) {
    char *text = reading.arena->MakeArray<char>(size_t{bytes->size()} + 1);
    std::memcpy(text, bytes->data(), bytes->size());
    reading.Put<const char *>(text);
  } else if (bytes->size() % width == 0) {
    reading.PutVector(bytes->data(), bytes->size() / width);
  }
}

const OperatorLayout *FindOperator(const schema::Primitive &primitive) {
  const auto *custom = primitive.value_as_Custom();
  const bool has_type = custom != nullptr && custom->type() != nullptr;
  const OperatorLayout *ours = has_type ? FindCustomOperator(custom->type()->string_view()) : nullptr;
  return ours != nullptr ? ours : mslite::FindOperator(static_cast<int32_t>(primitive.value_type()));
}
}  // namespace

void *Arena::Allocate(size_t count, size_t size, size_t alignment) {
  if (count > SIZE_MAX / 2 / size) throw std::bad_alloc();
  const size_t bytes = count * size;
  size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (blocks_.empty() || begin > capacity_ || bytes > capacity_ - begin) {
    capacity_ = std::max(bytes, kBlockBytes);
    blocks_.push_back(std::make_unique<unsigned char[]>(capacity_));  // zeroed, aligned for any plain type
    begin = 0;
  }
  used_ = begin + bytes;
  return blocks_.back().get() + begin;
}

const void *UnpackPrimitive(const schema::Primitive &primitive, Arena &arena, int32_t *op) {
  *op = static_cast<int32_t>(primitive.value_type());
  const OperatorLayout *found = primitive.value() == nullptr ? nullptr : FindOperator(primitive);
  if (found == nullptr) return nullptr;
  *op = found->op;
  if (found->layout == nullptr) return nullptr;
  constexpr size_t kUnit = sizeof(int64_t);  // aligned for all members
  auto *params = reinterpret_cast<unsigned char *>(arena.MakeArray<int64_t>((found->layout->size + kUnit - 1) / kUnit));
  for (size_t i = 0; i < found->layout->count; ++i) {
    const Reading reading = {found->layout, i, params, &arena};
    if (found->custom_type != nullptr) {
      ReadAttribute(*primitive.value_as_Custom(), reading);
    } else {
      ReadField(*static_cast<const flatbuffers::Table *>(primitive.value()), reading);
    }
  }
  return params;
}
}  // namespace mslite::unpack
