#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/strings.h"

namespace koord::cli {

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

bool UseColor(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::strcmp(terminal, "dumb") == 0) return false;
  return IsTerminal(stream);
}

size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return 100;
  return std::min<size_t>(size.ws_col, 160);
}

std::string Wrapped(std::string_view text, size_t width) {
  constexpr std::string_view kBreak = "\n    ";
  std::string lines;
  size_t column = 0;
  for (const std::string_view word : Split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > width) {
      lines += kBreak;
      column = kBreak.size() - 1;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

}  // namespace koord::cli
