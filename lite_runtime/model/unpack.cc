#include "model/unpack.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "op_params.h"
#include "schema/ops_generated.h"

namespace mslite::unpack {
// How the parameters of an operator are read; `custom_type` of those that are Custom nodes in a file.
struct Unpacker {
  int32_t op;
  const void *(*make)(const schema::Primitive &primitive, Arena &arena);  // nullptr: mslite-crop took it out
  const char *custom_type;
};

namespace {

constexpr size_t kBlockBytes = 16 * 1024;

template <typename List, typename T>
List ViewOrCopy(const void *data, size_t count, Arena &arena) {
  List list{static_cast<int32_t>(count), nullptr};
  if (count == 0) return list;
  if (reinterpret_cast<uintptr_t>(data) % alignof(T) == 0) {
    list.at = static_cast<const T *>(data);
    return list;
  }
  T *copy = arena.MakeArray<T>(count);
  std::memcpy(copy, data, count * sizeof(T));
  list.at = copy;
  return list;
}

// FlatBuffers numbers are little-endian, as is every target; a vector of them is a C array.
static_assert(FLATBUFFERS_LITTLEENDIAN, "the file's numbers are read in place");

// Sizes have 32 bits here: what shape rules and kernels multiply by each other then fits 64.
inline int64_t Long(int64_t number, const char *name, Arena &arena) {
  if (number < INT32_MIN || number > INT32_MAX) arena.Refuse(name);
  return number;
}

inline mslite_longs Checked(mslite_longs list, const char *name, Arena &arena) {
  for (int32_t i = 0; i < list.count; ++i) (void)Long(list.at[i], name, arena);
  return list;
}

inline mslite_longs Longs(const flatbuffers::Vector<int64_t> *vector, const char *name, Arena &arena) {
  if (vector == nullptr) return {};
  return Checked(ViewOrCopy<mslite_longs, int64_t>(vector->Data(), vector->size(), arena), name, arena);
}

inline mslite_ints Ints(const flatbuffers::Vector<int32_t> *vector, Arena &arena) {
  return vector == nullptr ? mslite_ints{} : ViewOrCopy<mslite_ints, int32_t>(vector->Data(), vector->size(), arena);
}

inline mslite_floats Floats(const flatbuffers::Vector<float> *vector, Arena &arena) {
  return vector == nullptr ? mslite_floats{} : ViewOrCopy<mslite_floats, float>(vector->Data(), vector->size(), arena);
}

inline mslite_vec2d Lists(const schema::Vec2D *table, const char *name, Arena &arena) {
  if (table == nullptr || table->data() == nullptr) return {};
  const auto &rows = *table->data();
  auto *lists = arena.MakeArray<mslite_longs>(rows.size());
  for (flatbuffers::uoffset_t i = 0; i < rows.size(); ++i) lists[i] = Longs(rows.Get(i)->data(), name, arena);
  return {static_cast<int32_t>(rows.size()), lists};
}

// The verifier has seen the terminating zero of every string.
inline const char *Text(const flatbuffers::String *text, Arena & /*arena*/) {
  return text == nullptr ? nullptr : text->c_str();
}

inline mslite_named_bytes_list NamedBytes(const flatbuffers::Vector<flatbuffers::Offset<schema::Attribute>> *attributes,
                                          Arena &arena) {
  if (attributes == nullptr) return {};
  auto *list = arena.MakeArray<mslite_named_bytes>(attributes->size());
  for (flatbuffers::uoffset_t i = 0; i < attributes->size(); ++i) {
    const schema::Attribute &attribute = *attributes->Get(i);
    list[i].name = Text(attribute.name(), arena);
    if (attribute.data() != nullptr) {
      list[i].size = static_cast<int32_t>(attribute.data()->size());
      list[i].data = attribute.data()->data();
    }
  }
  return {static_cast<int32_t>(attributes->size()), list};
}

// ---- attributes of our Custom operators: little-endian bytes under a name ----

inline const flatbuffers::Vector<uint8_t> *FindAttribute(const schema::Custom &table, std::string_view name) {
  if (table.attr() == nullptr) return nullptr;
  for (const schema::Attribute *attribute : *table.attr()) {
    if (attribute->name() != nullptr && attribute->name()->string_view() == name) return attribute->data();
  }
  return nullptr;
}

// An attribute that is missing or has the wrong number of bytes reads as its default.
template <typename T>
T CustomNumber(const schema::Custom &table, const char *name, T default_value) {
  const auto *bytes = FindAttribute(table, name);
  if (bytes == nullptr || bytes->size() != sizeof(T)) return default_value;
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

template <typename List, typename T>
List CustomList(const schema::Custom &table, const char *name, Arena &arena) {
  const auto *bytes = FindAttribute(table, name);
  if (bytes == nullptr || bytes->size() % sizeof(T) != 0) return {};
  return ViewOrCopy<List, T>(bytes->data(), bytes->size() / sizeof(T), arena);
}

[[maybe_unused]] inline bool CustomBool(const schema::Custom &table, const char *name, bool default_value) {
  return CustomNumber<uint8_t>(table, name, default_value ? 1 : 0) != 0;
}
[[maybe_unused]] inline int32_t CustomInt(const schema::Custom &table, const char *name, int32_t default_value) {
  return CustomNumber(table, name, default_value);
}
[[maybe_unused]] inline int64_t CustomLong(const schema::Custom &table, const char *name, int64_t default_value,
                                           Arena &arena) {
  return Long(CustomNumber(table, name, default_value), name, arena);
}
[[maybe_unused]] inline float CustomFloat(const schema::Custom &table, const char *name, float default_value) {
  return CustomNumber(table, name, default_value);
}
[[maybe_unused]] inline mslite_longs CustomLongs(const schema::Custom &table, const char *name, Arena &arena) {
  return Checked(CustomList<mslite_longs, int64_t>(table, name, arena), name, arena);
}
[[maybe_unused]] inline mslite_ints CustomInts(const schema::Custom &table, const char *name, Arena &arena) {
  return CustomList<mslite_ints, int32_t>(table, name, arena);
}
[[maybe_unused]] inline mslite_floats CustomFloats(const schema::Custom &table, const char *name, Arena &arena) {
  return CustomList<mslite_floats, float>(table, name, arena);
}
[[maybe_unused]] inline const char *CustomText(const schema::Custom &table, const char *name, Arena &arena) {
  const auto *bytes = FindAttribute(table, name);
  if (bytes == nullptr) return nullptr;
  char *text = arena.MakeArray<char>(size_t{bytes->size()} + 1);
  std::memcpy(text, bytes->data(), bytes->size());
  return text;
}

#include "op_unpack.inc"

const Unpacker *FindUnpacker(const schema::Primitive &primitive) {
  const auto op = static_cast<int32_t>(primitive.value_type());
  const auto *custom = primitive.value_as_Custom();
  const std::string_view type =
      custom == nullptr || custom->type() == nullptr ? std::string_view() : custom->type()->string_view();
  const Unpacker *known = nullptr;
  for (const Unpacker &next : mslite_unpackers) {
    if (next.custom_type == nullptr ? next.op == op : !type.empty() && type == next.custom_type) known = &next;
  }
  return known;
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
  const Unpacker *unpacker = primitive.value() == nullptr ? nullptr : FindUnpacker(primitive);
  if (unpacker == nullptr) return nullptr;
  *op = unpacker->op;
  return unpacker->make == nullptr ? nullptr : unpacker->make(primitive, arena);
}

}  // namespace mslite::unpack
