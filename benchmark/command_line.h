// Command lines of --name=value, as the original's, or --name value: tables of flags, their help, and words that are
// none.
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
  const char *alone = nullptr;  // the value of a flag that may stand without one
};

struct FlagGroup {
  const char *title;
  std::vector<Flag> flags;
};

// Sets the targets of the flags in `arguments`, and `given` to their names; "-h" is the flag "help". `not_built` are
// flags of the original that the program knows and does not have. Empty on success, else what is wrong.
std::string ParseArguments(const std::vector<std::string> &arguments, const std::vector<FlagGroup> &table,
                           const std::set<std::string> &not_built, std::set<std::string> *given);

// The flags, group by group, as wide as the terminal.
std::string DescribeFlags(const std::vector<FlagGroup> &table);

// Makes of a value the allowed one that it is but for its case. "" on success, else a message.
std::string OneOf(const char *name, const std::vector<std::string> &allowed, std::string *value);

// Puts stars over the key in the words themselves: neither other users, who see them, nor reports get it.
void HideKey(int count, char **words);

// Writes zeros over a secret.
void Wipe(std::string *text);

// The pieces of `text` between `separators`; empty pieces are dropped.
std::vector<std::string> Split(const std::string &text, const std::string &separators);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_COMMAND_LINE_H_
