#pragma once
#include <string>

#include "base/status.h"

namespace koord {

// The whole of a file. Errors name the file and the reason; a file beyond `limit` is one.
StatusOr<std::string> ReadFile(const std::string& path, size_t limit = 64 << 20);

}  // namespace koord
