#pragma once
#include <cstdio>

namespace koord::cli {

// A person is looking, and has not asked for plain text (NO_COLOR).
bool UseColor(std::FILE* stream);
bool IsTerminal(std::FILE* stream);

}  // namespace koord::cli
