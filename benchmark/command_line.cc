#include "command_line.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "help_text.h"

namespace mslite::benchmark {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

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
      return problem + "an integer";
    }
    **number = static_cast<int>(value);
  } else if (auto *const *real = std::get_if<float *>(&flag.target)) {
    const float value = std::strtof(text.c_str(), &end);
    // NaN and infinity would pass the comparisons of later checks.
    if (text.empty() || *end != '\0' || !std::isfinite(value)) return problem + "a finite number";
    **real = value;
  } else if (Lower(text) == "true" || text == "1") {
    *std::get<bool *>(flag.target) = true;
  } else if (Lower(text) == "false" || text == "0") {
    *std::get<bool *>(flag.target) = false;
  } else {
    return problem + "true or false";
  }
  return "";
}

// Returns the Levenshtein distance of two words.
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

// Returns true if an argument sets a key, also if its name is misspelled.
bool IsSecret(const std::string &word) {
  const std::string name = Lower(word.substr(0, word.find('=')));
  return name.size() >= 3 && name.compare(name.size() - 3, 3, "key") == 0;
}

// Returns an argument for a message, without the value of a key.
std::string Shown(const std::string &word) {
  return IsSecret(word) && word.find('=') != std::string::npos ? word.substr(0, word.find('=') + 1) + "..." : word;
}

const Flag *Find(const std::vector<FlagGroup> &table, const std::string &name) {
  for (const FlagGroup &group : table) {
    for (const Flag &flag : group.flags) {
      if (name == flag.name) return &flag;
    }
  }
  return nullptr;
}

// Returns the only flag that has the word in its name; for "model" it is --modelFile. Null if there is none or several.
const Flag *Containing(const std::string &word, const std::vector<FlagGroup> &table) {
  const Flag *found = nullptr;
  if (word.size() < 3) return nullptr;
  if (Lower(word) == "model") return Find(table, "modelFile");
  for (const FlagGroup &group : table) {
    for (const Flag &flag : group.flags) {
      if (Lower(flag.name).find(Lower(word)) == std::string::npos) continue;
      if (found != nullptr) return nullptr;
      found = &flag;
    }
  }
  return found;
}

// Returns a hint for an argument that is not a valid flag.
std::string Meant(const std::string &argument, const std::vector<FlagGroup> &table) {
  const size_t begin = std::min(argument.find_first_not_of('-'), argument.size());
  const std::string name = argument.substr(begin, argument.find('=') - begin);
  const Flag *nearest = nullptr;
  const size_t near = name.size() < 6 ? 1 : 2;
  size_t least = near + 1;
  for (const FlagGroup &group : table) {
    for (const Flag &flag : group.flags) {
      const size_t distance = name.size() > 64 ? least : Distance(name, flag.name);
      if (distance < least) {
        least = distance;
        nearest = &flag;
      }
    }
  }
  if (nearest == nullptr) nearest = Containing(name, table);
  if (nearest != nullptr) return std::string("; did you mean --") + nearest->name + "?";
  if (argument.rfind("--", 0) == 0) return "";
  return "; flags have the form --name=value or --name value, values with blanks need quotes, and the model is "
         "--modelFile=FILE.ms";
}

bool MayStandAlone(const Flag &flag) { return std::holds_alternative<bool *>(flag.target) || flag.alone != nullptr; }

// Returns true if the argument after a flag is its value. If the flag requires a value, it may begin with one '-', for
// example a negative number.
bool IsValueOf(const Flag &flag, const std::string &word) {
  return MayStandAlone(flag) ? word.rfind('-', 0) != 0 : word.rfind("--", 0) != 0 && word != "-h";
}

// Returns the arguments with "--name value" and "--name = value" joined to "--name=value".
std::vector<std::string> Joined(const std::vector<std::string> &words, const std::vector<FlagGroup> &table) {
  std::vector<std::string> joined;
  for (size_t i = 0; i < words.size(); ++i) {
    joined.push_back(words[i]);
    if (words[i] == "--") break;
    const Flag *flag = words[i].rfind("--", 0) == 0 ? Find(table, words[i].substr(2)) : nullptr;
    if (flag == nullptr || i + 1 == words.size()) continue;
    const size_t value = words[i + 1] == "=" && i + 2 < words.size() ? i + 2 : i + 1;
    if (!IsValueOf(*flag, words[value])) continue;
    joined.back() += "=" + words[value];
    i = value;
  }
  return joined;
}

// ParseArguments for joined arguments.
std::string ParseJoined(const std::vector<std::string> &words, const std::vector<FlagGroup> &table,
                        const std::set<std::string> &not_built, std::set<std::string> *given) {
  for (const std::string &argument : words) {
    if (argument == "--") break;
    if (argument == "-h") {
      *std::get<bool *>(Find(table, "help")->target) = true;
      continue;
    }
    // MindSpore Lite ignores such arguments, so a typing error is not noticed.
    if (argument.rfind("--", 0) != 0) return "'" + Shown(argument) + "' is not a flag" + Meant(argument, table);
    const size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool has_value = equals != std::string::npos;
    const bool negated = !has_value && name.rfind("no-", 0) == 0;
    if (negated) name = name.substr(3);
    if (not_built.count(name) != 0) return "--" + name + " is not supported by this program";
    const Flag *flag = Find(table, name);
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
  volatile char *byte = text->data();  // volatile, so that compilers do not remove the loop
  for (size_t i = 0; i < text->size(); ++i) byte[i] = '\0';
  text->clear();
}

void HideKey(int count, char **words) {
  for (int i = 0; i < count; ++i) {
    std::string word = words[i];
    if (!IsSecret(word)) continue;
    const size_t equals = word.find('=');
    if (equals != std::string::npos) {
      std::fill(words[i] + equals + 1, words[i] + word.size(), '*');
    } else if (word.rfind("--", 0) == 0) {  // the key is a separate argument
      if (i + 2 < count && std::string(words[i + 1]) == "=") ++i;
      if (i + 1 < count && words[i + 1][0] != '-') std::fill_n(words[i + 1], std::strlen(words[i + 1]), '*');
    }
    Wipe(&word);
  }
}

std::string OneOf(const char *name, const std::vector<std::string> &allowed, std::string *value) {
  std::string list;
  for (const std::string &word : allowed) {
    if (Lower(word) == Lower(*value)) {
      *value = word;
      return "";
    }
    list += (list.empty() ? "" : ", ") + word;
  }
  return std::string("--") + name + "=" + *value + ": expected one of " + list;
}

std::string ParseArguments(const std::vector<std::string> &arguments, const std::vector<FlagGroup> &table,
                           const std::set<std::string> &not_built, std::set<std::string> *given) {
  std::vector<std::string> joined = Joined(arguments, table);
  const std::string problem = ParseJoined(joined, table, not_built, given);
  for (std::string &word : joined) Wipe(&word);  // it may hold a key
  return problem;
}

std::string DescribeFlags(const std::vector<FlagGroup> &table) {
  std::string text;
  for (const FlagGroup &group : table) {
    text += (text.empty() ? "" : "\n") + std::string(group.title) + ":\n";
    for (const Flag &flag : group.flags) {
      text += Described(std::string("  --") + flag.name + (*flag.value == '\0' ? "" : "=") + flag.value, flag.help);
    }
  }
  return text;
}

}  // namespace mslite::benchmark
