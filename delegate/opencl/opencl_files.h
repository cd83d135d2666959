// Files in the folder MSLITE_OPENCL_CACHE. Format: file kind, SHA-256 of the contents, contents.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_FILES_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_FILES_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/sha256.h"

namespace mslite {
// Eight characters at the beginning of a file.
using FileKind = const char *;

// Returns the folder; empty if MSLITE_OPENCL_CACHE is not set. Removes unfinished files of processes that have ended.
std::filesystem::path OpenClCacheFolder();

// Returns the contents of a file; empty if it does not exist, is damaged, has another kind or more than `most` bytes.
std::vector<uint8_t> ReadChecked(const std::filesystem::path &path, FileKind kind, uintmax_t most);

// Writes a file atomically. Returns false on failure; no file is left then.
bool WriteChecked(const std::filesystem::path &path, FileKind kind, const std::vector<uint8_t> &contents);

// Returns the digest of a list of texts. Each text is terminated, so that different lists have different digests.
Digest DigestOf(const std::vector<std::string> &texts);
}  // namespace mslite

#endif
