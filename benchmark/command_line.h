// Command lines with flags of the form --name=value (as in MindSpore Lite) or --name value: parsing, help texts and
// error messages.
#ifndef MSLITE_BENCHMARK_COMMAND_LINE_H_
#define MSLITE_BENCHMARK_COMMAND_LINE_H_

#include <set>
#include <string>
#include <variant>
#include <vector>

namespace mslite::benchmark {

struct Flag {
  const char *name;
  std::variant<std::string *, int *, float *, bool *> target;
  const char *value;
  const char *help;
  const char *alone = nullptr;  // the value if the flag is given without one; null: a value is required
};

struct FlagGroup {
  const char *title;
  std::vector<Flag> flags;
};

// Sets the targets of the flags in `arguments`, and `given` to their names. "-h" is the flag "help". `not_built` are
// flags of MindSpore Lite that the program does not support. Returns an error message, or "".
std::string ParseArguments(const std::vector<std::string> &arguments, const std::vector<FlagGroup> &table,
                           const std::set<std::string> &not_built, std::set<std::string> *given);

// Returns the help text of the flags by group, wrapped to the width of the terminal.
std::string DescribeFlags(const std::vector<FlagGroup> &table);

// Replaces a value by the allowed value that is equal except for case. Returns an error message, or "".
std::string OneOf(const char *name, const std::vector<std::string> &allowed, std::string *value);

// Replaces a key in the arguments by asterisks, so that it is not visible in process lists and reports.
void HideKey(int count, char **words);

// Overwrites a secret with zeros.
void Wipe(std::string *text);

// Splits `text` at any of the characters `separators`. Empty pieces are dropped.
std::vector<std::string> Split(const std::string &text, const std::string &separators);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_COMMAND_LINE_H_
