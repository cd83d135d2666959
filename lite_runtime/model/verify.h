// Whether the bytes of a file may be read as tables: no offset, size or vector leads out of them.
#ifndef MSLITE_MODEL_VERIFY_H
#define MSLITE_MODEL_VERIFY_H

#include <cstddef>
#include <cstdint>

#include "model/internal_api.h"
#include "model/layout.h"

namespace mslite {
/// True where every offset that the root's layout knows of, and what it leads to, is sound. Operators that are not
/// declared, or were cropped out of this library, are not looked into: UnpackPrimitive gives nullptr for them.
bool VerifyTables(const uint8_t *data, size_t size, const Layout &root);
/// The same of a model; its identifier is not looked at.
MSLITE_INTERNAL_API bool VerifyModel(const uint8_t *data, size_t size);
/// The same of a buffer whose root is a Primitive.
MSLITE_INTERNAL_API bool VerifyPrimitive(const uint8_t *data, size_t size);
}  // namespace mslite

#endif
