// From a verified FlatBuffers primitive to the plain C parameter struct that shape rules and kernels read.
#ifndef MSLITE_MODEL_UNPACK_H
#define MSLITE_MODEL_UNPACK_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/internal_api.h"

// The tables of the file are those that kernels of others read, in the namespace that these know.
namespace mindspore::schema {
struct Primitive;
}
namespace mslite {
namespace schema = mindspore::schema;
}

namespace mslite::unpack {

/// A bump allocator. What it hands out is zeroed and lives as long as the arena; nothing is freed singly.
class Arena {
 public:
  Arena() = default;
  Arena(Arena &&) = default;
  Arena &operator=(Arena &&) = default;

  /// `count` zeroed objects of a plain type; nullptr for none. Throws std::bad_alloc.
  template <typename T>
  T *MakeArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    return count == 0 ? nullptr : static_cast<T *>(Allocate(count, sizeof(T), alignof(T)));
  }

  template <typename T>
  T *Make() {
    return MakeArray<T>(1);
  }

  /// Notes an attribute whose number is too large for any size, for whoever unpacks.
  void Refuse(const char *attribute) { refused_ = attribute; }
  /// The attribute that was refused last, or nullptr; forgotten with this call.
  const char *TakeRefused() { return std::exchange(refused_, nullptr); }

 private:
  MSLITE_INTERNAL_API void *Allocate(size_t count, size_t size, size_t alignment);

  std::vector<std::unique_ptr<unsigned char[]>> blocks_;
  size_t used_ = 0;
  size_t capacity_ = 0;
  const char *refused_ = nullptr;
};

/// The parameter struct of a primitive that the FlatBuffers verifier has passed, and its operator number: ours for a
/// known Custom type. Lists and texts point into the file where its alignment allows, so the file must stay; what was
/// copied lives in the arena, which also knows of numbers that are refused. Returns nullptr, with `op` set, for an
/// operator that is not declared, or was cropped out of this library, and for a primitive without a value.
MSLITE_INTERNAL_API const void *UnpackPrimitive(const schema::Primitive &primitive, Arena &arena, int32_t *op);

}  // namespace mslite::unpack

#endif
