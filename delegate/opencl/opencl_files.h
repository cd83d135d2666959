// Files in the folder MSLITE_OPENCL_CACHE. Format: file kind, SHA-256 of the contents, contents.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_FILES_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_FILES_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/sha256.h"

namespace mslite {
// Eight characters.
using FileKind = const char *;

// The folder; empty where there is none. Files in it that a process was writing when it ended are removed.
std::filesystem::path OpenClCacheFolder();

// The contents. Empty where there is no such file, or where it is damaged, of another kind or larger than `most` bytes.
std::vector<uint8_t> ReadChecked(const std::filesystem::path &path, FileKind kind, uintmax_t most);

// Writes a file atomically. Returns false on failure, and then leaves no file.
bool WriteChecked(const std::filesystem::path &path, FileKind kind, const std::vector<uint8_t> &contents);

// The digest of these texts, each ended, so that no two lists of texts look the same.
Digest DigestOf(const std::vector<std::string> &texts);
}  // namespace mslite

#endif
