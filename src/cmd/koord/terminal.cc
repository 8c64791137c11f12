#include "cmd/koord/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace koord::cli {

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

bool UseColor(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::strcmp(terminal, "dumb") == 0) return false;
  return IsTerminal(stream);
}

}  // namespace koord::cli
