// Unpacks a verified FlatBuffers primitive to the plain C parameter struct that shape rules and kernels read.
#ifndef MSLITE_MODEL_UNPACK_H
#define MSLITE_MODEL_UNPACK_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/internal_api.h"

// Registered kernels read the file's tables, so they are in the namespace of MindSpore Lite.
namespace mindspore::schema {
struct Primitive;
}
namespace mslite {
namespace schema = mindspore::schema;
}

namespace mslite::unpack {

/// A bump allocator. Its memory is zeroed and lives as long as the arena; nothing is freed individually.
class Arena {
 public:
  Arena() = default;
  Arena(Arena &&) = default;
  Arena &operator=(Arena &&) = default;

  /// Returns `count` zeroed objects of a plain type; nullptr for 0. Throws std::bad_alloc.
  template <typename T>
  T *MakeArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    return count == 0 ? nullptr : static_cast<T *>(Allocate(count, sizeof(T), alignof(T)));
  }

  template <typename T>
  T *Make() {
    return MakeArray<T>(1);
  }

  /// Records an attribute whose number is too large for a size. The caller of UnpackPrimitive checks it.
  void Refuse(const char *attribute) { refused_ = attribute; }
  /// Returns the attribute that was recorded last, or nullptr, and forgets it.
  const char *TakeRefused() { return std::exchange(refused_, nullptr); }

 private:
  MSLITE_INTERNAL_API void *Allocate(size_t count, size_t size, size_t alignment);

  std::vector<std::unique_ptr<unsigned char[]>> blocks_;
  size_t used_ = 0;
  size_t capacity_ = 0;
  const char *refused_ = nullptr;
};

/// Returns the parameter struct of a primitive that the FlatBuffers verifier has accepted, and sets its operator
/// number; a known Custom type has mslite's own number. Lists and texts point into the file if its alignment allows, so
/// the file must stay in memory; copies are in the arena, which also records invalid attributes (TakeRefused). Returns
/// nullptr, with `op` set, for an operator that is not declared or was cropped from this library, and for a primitive
/// without a value.
MSLITE_INTERNAL_API const void *UnpackPrimitive(const schema::Primitive &primitive, Arena &arena, int32_t *op);

}  // namespace mslite::unpack

#endif
