// Verification of model files with SHA-256 digests. mslite extension.
#ifndef MSLITE_INCLUDE_MSLITE_DIGEST_H_
#define MSLITE_INCLUDE_MSLITE_DIGEST_H_

#include <cstddef>
#include <string>

#include "include/api/status.h"

namespace mslite {

// Compares a model file with the SHA-256 digest that `converter_lite --digest=on` has stored at its end. The digest
// also covers the side file (.msw) of the model. The model is not parsed. This finds damaged files, but not manipulated
// ones, because the stored digest can be manipulated too. For that, `expected` is the SHA-256 digest of the whole .ms
// file, 64 hexadecimal digits, from a trusted source. With `expected`, the file does not need a stored digest, but
// without one the side file is not verified.
// Errors: kLiteGraphFileError for a file without a digest (if `expected` is empty) or with a different one;
// kLiteFileError for a file that cannot be read; kLiteParamInvalid for an invalid `expected`.
MS_API mindspore::Status VerifyDigest(const std::string &model_path, const std::string &expected = "");

// The same for a model in memory, which cannot change before Model::Build. The side file is not verified.
MS_API mindspore::Status VerifyDigest(const void *data, size_t size, const std::string &expected = "");

// Computes the SHA-256 digest of a whole file, 64 hexadecimal digits, for `expected`. Errors: kLiteFileError for a file
// that cannot be read; kLiteNullptr if `digest` is null.
MS_API mindspore::Status FileDigest(const std::string &path, std::string *digest);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_DIGEST_H_
