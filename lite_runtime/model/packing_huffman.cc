// Unpacks a Huffman code: "key key ... #code code ... #", then the code words, most significant bit first. Keys are
// decimal int8 values, and 128 for the end mark; codes are strings of 0 (left) and 1 (right).
#include <cstdlib>
#include <cstring>

#include "model/message.h"
#include "model/packing.h"

namespace mslite {
namespace {
constexpr int32_t kEndMark = 128;
constexpr int32_t kNone = -1;

// An inner node has children, a leaf has a key.
struct TreeNode {
  int32_t child[2] = {kNone, kNone};
  int32_t key = 0;
  bool is_leaf = false;
};

// Reads the words of the text from `*at` to the next '#', and moves `*at` behind it. Returns false if there is no '#'.
bool ReadWords(const PackedConstant &packed, size_t *at, std::vector<std::string> *words) {
  std::string word;
  for (; *at < packed.size; ++*at) {
    const char letter = static_cast<char>(packed.data[*at]);
    if (letter != ' ' && letter != '#') {
      word += letter;
      continue;
    }
    if (!word.empty()) words->push_back(std::move(word));
    word.clear();
    if (letter == '#') {
      ++*at;
      return true;
    }
  }
  return false;
}

bool ParseKey(const std::string &word, int32_t *key) {
  char *end = nullptr;
  const long value = std::strtol(word.c_str(), &end, 10);
  *key = static_cast<int32_t>(value);
  return end == word.c_str() + word.size() && value >= INT8_MIN && value <= kEndMark;
}

std::string Insert(const std::string &code, int32_t key, std::vector<TreeNode> *tree) {
  size_t at = 0;
  for (const char bit : code) {
    if (bit != '0' && bit != '1') return "a code of its Huffman table has characters other than 0 and 1";
    if ((*tree)[at].is_leaf) return "a code of its Huffman table is the prefix of another";
    int32_t next = (*tree)[at].child[bit - '0'];
    if (next == kNone) {
      next = static_cast<int32_t>(tree->size());
      (*tree)[at].child[bit - '0'] = next;
      tree->emplace_back();
    }
    at = static_cast<size_t>(next);
  }
  TreeNode &leaf = (*tree)[at];
  if (at == 0 || leaf.is_leaf || leaf.child[0] != kNone || leaf.child[1] != kNone) {
    return "a code of its Huffman table is the prefix of another";
  }
  leaf.is_leaf = true;
  leaf.key = key;
  return "";
}
}  // namespace

std::string UnpackHuffman(const PackedConstant &packed, uint8_t *target) {
  if (packed.element != 1) return "only int8 can be Huffman-coded";
  size_t at = 0;
  std::vector<std::string> keys;
  std::vector<std::string> codes;
  if (!ReadWords(packed, &at, &keys) || !ReadWords(packed, &at, &codes) || keys.size() != codes.size()) {
    return "its Huffman table is not complete";
  }
  std::vector<TreeNode> tree(1);
  for (size_t i = 0; i < keys.size(); ++i) {
    int32_t key = 0;
    if (!ParseKey(keys[i], &key)) return "a key of its Huffman table is not an int8 value";
    if (std::string error = Insert(codes[i], key, &tree); !error.empty()) return error;
  }
  BitReader reader(packed.data + at, packed.size - at);
  for (int64_t i = 0; i <= packed.count; ++i) {
    size_t node = 0;
    while (!tree[node].is_leaf) {
      if (reader.left() == 0) return "its data ends too early";
      const int32_t next = tree[node].child[reader.Read(1)];
      if (next == kNone) return "its data has a code word that is not in its Huffman table";
      node = static_cast<size_t>(next);
    }
    const bool is_end = tree[node].key == kEndMark;
    if (is_end != (i == packed.count)) return "its number of elements differs from its shape";
    if (!is_end) StoreInteger(target, packed.element, i, tree[node].key);
  }
  return "";
}
}  // namespace mslite
