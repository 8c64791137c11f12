#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace koord::cli {

// A person is looking, and has not asked for plain text (NO_COLOR).
bool UseColor(std::FILE* stream);
bool IsTerminal(std::FILE* stream);
// Of standard output, in columns; a usual one where nobody looks.
size_t TerminalWidth();
// Broken between words, so that each line fits; what follows the first is indented.
std::string Wrapped(std::string_view text, size_t width);

}  // namespace koord::cli
