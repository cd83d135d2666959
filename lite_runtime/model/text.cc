#include "model/text.h"

namespace mslite {
namespace {
// Returns the bytes of the valid UTF-8 character (RFC 3629) at `at`, or 0.
size_t CharacterSize(const std::string &text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t' ? 1 : 0;
  const size_t size = first >= 0xc2 && first <= 0xdf   ? 2
                      : first >= 0xe0 && first <= 0xef ? 3
                      : first >= 0xf0 && first <= 0xf4 ? 4
                                                       : 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Excludes overlong forms, surrogates, and characters above U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return size;
}
}  // namespace

std::string CleanText(std::string text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = CharacterSize(text, at);
    if (size == 0) text[at] = '?';
    at += size == 0 ? 1 : size;
  }
  return text;
}
}  // namespace mslite
