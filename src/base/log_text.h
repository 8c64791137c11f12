#pragma once
#include <string_view>

#include "base/log.h"

namespace koord::log {

// Logs a text whose exact words or layout users know, as it is: tables, reports. May have many
// lines.
void WriteText(Level level, std::string_view file, int line, std::string_view text);

}  // namespace koord::log

#define LOG_TEXT(text) ::koord::log::WriteText(::koord::log::Level::kInfo, __FILE__, __LINE__, text)
