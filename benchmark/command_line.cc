#include "command_line.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace mslite::benchmark {
namespace {

std::string Assign(const Flag &flag, const std::string &text) {
  const std::string problem = std::string("--") + flag.name + "=" + text + ": expected ";
  char *end = nullptr;
  errno = 0;
  if (auto *const *target = std::get_if<std::string *>(&flag.target)) {
    **target = text;
  } else if (auto *const *number = std::get_if<int *>(&flag.target)) {
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || value < std::numeric_limits<int>::min() ||
        value > std::numeric_limits<int>::max()) {
      return problem + "a whole number";
    }
    **number = static_cast<int>(value);
  } else if (auto *const *real = std::get_if<float *>(&flag.target)) {
    const float value = std::strtof(text.c_str(), &end);
    // What is no number, or beyond all, would pass every comparison that it is the threshold of.
    if (text.empty() || *end != '\0' || !std::isfinite(value)) return problem + "a finite number";
    **real = value;
  } else if (text == "true" || text == "1") {
    *std::get<bool *>(flag.target) = true;
  } else if (text == "false" || text == "0") {
    *std::get<bool *>(flag.target) = false;
  } else {
    return problem + "true or false";
  }
  return "";
}

// Letters to change, insert or delete that make `b` of `a` (Levenshtein).
size_t Distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (std::tolower(a[i - 1]) == std::tolower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

// Whether what a word sets is a key, under whatever spelling.
bool IsSecret(const std::string &word) {
  std::string name = word.substr(0, word.find('='));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.size() >= 3 && name.compare(name.size() - 3, 3, "key") == 0;
}

// A word as a message may repeat it.
std::string Shown(const std::string &word) {
  return IsSecret(word) && word.find('=') != std::string::npos ? word.substr(0, word.find('=') + 1) + "..." : word;
}

// The end of a message about a word that is no flag.
std::string Meant(const std::string &argument, const std::vector<Flag> &table) {
  constexpr size_t kNear = 2;
  const size_t begin = std::min(argument.find_first_not_of('-'), argument.size());
  const std::string name = argument.substr(begin, argument.find('=') - begin);
  const Flag *nearest = nullptr;
  size_t least = kNear + 1;
  for (const Flag &flag : table) {
    const size_t distance = name.size() > 64 ? least : Distance(name, flag.name);
    if (distance < least) {
      least = distance;
      nearest = &flag;
    }
  }
  if (nearest != nullptr) return std::string("; did you mean --") + nearest->name + "?";
  return "; flags are --name=value, the model is --modelFile=FILE.ms";
}

}  // namespace

std::vector<std::string> Split(const std::string &text, const std::string &separators) {
  std::vector<std::string> pieces;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

void Wipe(std::string *text) {
  volatile char *byte = text->data();  // volatile: compilers must not leave it out
  for (size_t i = 0; i < text->size(); ++i) byte[i] = '\0';
  text->clear();
}

void HideKey(int count, char **words) {
  for (int i = 0; i < count; ++i) {
    std::string word = words[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos || !IsSecret(word)) continue;
    std::fill(words[i] + equals + 1, words[i] + word.size(), '*');
    Wipe(&word);
  }
}

std::string OneOf(const char *name, const std::string &value, const std::vector<std::string> &allowed) {
  std::string list;
  for (const std::string &word : allowed) {
    if (word == value) return "";
    list += (list.empty() ? "" : ", ") + word;
  }
  return std::string("--") + name + "=" + value + ": expected one of " + list;
}

std::string ParseArguments(const std::vector<std::string> &arguments, const std::vector<Flag> &table,
                           const std::set<std::string> &not_built, std::set<std::string> *given) {
  for (const std::string &argument : arguments) {
    if (argument == "--") break;
    if (argument == "-h") {
      for (const Flag &flag : table) {
        if (std::string(flag.name) == "help") *std::get<bool *>(flag.target) = true;
      }
      continue;
    }
    // The original skips such words, so that a run with wrong settings looks like one with the right ones.
    if (argument.rfind("--", 0) != 0) return "'" + Shown(argument) + "' is no flag" + Meant(argument, table);
    const size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool has_value = equals != std::string::npos;
    const bool negated = !has_value && name.rfind("no-", 0) == 0;
    if (negated) name = name.substr(3);
    if (not_built.count(name) != 0) return "--" + name + " is not built into this program";
    const Flag *flag = nullptr;
    for (const Flag &candidate : table) {
      if (name == candidate.name) flag = &candidate;
    }
    if (flag == nullptr) return Shown(argument) + " is not a valid flag" + Meant(argument, table);
    if (!given->insert(name).second) return "--" + name + " is given twice";
    const bool is_switch = std::holds_alternative<bool *>(flag->target);
    if (!has_value && !is_switch && flag->alone == nullptr)
      return "--" + name + " needs a value: --" + name + "=" + flag->value;
    if (negated && !is_switch) return argument + " is not a valid flag";
    const char *alone = is_switch ? (negated ? "false" : "true") : flag->alone;
    const std::string value = has_value ? argument.substr(equals + 1) : alone;
    const std::string problem = Assign(*flag, value);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string DescribeFlags(const std::vector<Flag> &table) {
  std::string text;
  for (const Flag &flag : table) {
    std::string head = std::string("  --") + flag.name + (*flag.value == '\0' ? "" : "=") + flag.value;
    head.resize(std::max<size_t>(head.size() + 2, 44), ' ');
    text += head + flag.help + "\n";
  }
  return text;
}

}  // namespace mslite::benchmark
