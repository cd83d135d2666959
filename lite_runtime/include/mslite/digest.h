// Whether a model file is what was written. Beyond MindSpore Lite's API.
#ifndef MSLITE_INCLUDE_MSLITE_DIGEST_H_
#define MSLITE_INCLUDE_MSLITE_DIGEST_H_

#include <cstddef>
#include <string>

#include "include/api/status.h"

namespace mslite {

// Compares a model with the SHA-256 that `converter_lite --digest=on` put at its end, which covers its side file
// (.msw), too; nothing else of the file is read. That finds damage; who changes a file on purpose changes the digest
// with it. So `expected` may be the SHA-256 of the whole .ms file, 64 hexadecimal digits, from a source that is
// trusted: then the file must have it, and needs no digest of its own. A side file is covered only if it has one.
// Errors: kLiteGraphFileError for a file that has no digest (and none is expected) or another one, kLiteFileError for
// one that cannot be read, kLiteParamInvalid for an `expected` that is no digest.
MS_API mindspore::Status VerifyDigest(const std::string &model_path, const std::string &expected = "");

// The same of a model in memory, which cannot change between this and Model::Build. Its side file is not looked at.
MS_API mindspore::Status VerifyDigest(const void *data, size_t size, const std::string &expected = "");

// The SHA-256 of a whole file, 64 hexadecimal digits: what `expected` may be. Errors: kLiteFileError for a file that
// cannot be read, kLiteNullptr where there is no place for the digits.
MS_API mindspore::Status FileDigest(const std::string &path, std::string *digest);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_DIGEST_H_
