// Layout of the text of --help.
#ifndef MSLITE_BENCHMARK_HELP_TEXT_H_
#define MSLITE_BENCHMARK_HELP_TEXT_H_

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace mslite::benchmark {

// Returns the width of the terminal in columns; 100 if the output is a file.
inline size_t Width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<size_t>(size.ws_col, 60, 110);
}

// Returns a flag and its description in two columns.
inline std::string Described(const std::string &head, const std::string &help) {
  constexpr size_t kColumn = 30;
  const size_t width = Width();
  std::string text = head;
  size_t column = head.size() + 2 > kColumn ? width : head.size();  // a long flag is on a separate line
  std::istringstream words(help);
  for (std::string word; words >> word;) {
    const bool is_first = text.size() == head.size();
    if (column + 1 + word.size() > width) {
      text += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    } else if (is_first) {
      text.append(kColumn - column, ' ');
      column = kColumn;
    } else {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_HELP_TEXT_H_
