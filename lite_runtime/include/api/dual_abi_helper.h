/// Conversions between std::string and std::vector<char>, for source compatibility with MindSpore Lite.
#ifndef MINDSPORE_INCLUDE_API_DUAL_ABI_HELPER_H
#define MINDSPORE_INCLUDE_API_DUAL_ABI_HELPER_H

#include <map>
#include <string>
#include <vector>

namespace mindspore {
inline std::vector<char> StringToChar(const std::string &text) { return std::vector<char>(text.begin(), text.end()); }
inline std::string CharToString(const std::vector<char> &text) { return std::string(text.begin(), text.end()); }

inline std::vector<std::vector<char>> VectorStringToChar(const std::vector<std::string> &texts) {
  std::vector<std::vector<char>> result;
  result.reserve(texts.size());
  for (const auto &text : texts) result.push_back(StringToChar(text));
  return result;
}

inline std::vector<std::string> VectorCharToString(const std::vector<std::vector<char>> &texts) {
  std::vector<std::string> result;
  result.reserve(texts.size());
  for (const auto &text : texts) result.push_back(CharToString(text));
  return result;
}

template <class T>
inline std::map<std::vector<char>, T> MapStringToVectorChar(const std::map<std::string, T> &source) {
  std::map<std::vector<char>, T> result;
  for (const auto &entry : source) result[StringToChar(entry.first)] = entry.second;
  return result;
}

template <class T>
inline std::map<std::string, T> MapVectorCharToString(const std::map<std::vector<char>, T> &source) {
  std::map<std::string, T> result;
  for (const auto &entry : source) result[CharToString(entry.first)] = entry.second;
  return result;
}
}  // namespace mindspore

#endif
