// Verifies that the bytes of a file are valid tables: every offset, size and vector is within the file.
#ifndef MSLITE_MODEL_VERIFY_H
#define MSLITE_MODEL_VERIFY_H

#include <cstddef>
#include <cstdint>

#include "model/internal_api.h"
#include "model/layout.h"

namespace mslite {
/// Returns whether every offset that the layout of the root contains, and everything that it points to, is valid.
/// Operators that are not declared or were cropped from this library are not verified: UnpackPrimitive returns nullptr
/// for them.
bool VerifyTables(const uint8_t *data, size_t size, const Layout &root);
/// As VerifyTables, for a model. The file identifier is not checked.
MSLITE_INTERNAL_API bool VerifyModel(const uint8_t *data, size_t size);
/// As VerifyTables, for a buffer whose root is a Primitive.
MSLITE_INTERNAL_API bool VerifyPrimitive(const uint8_t *data, size_t size);
}  // namespace mslite

#endif
