#pragma once
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::koordlet::hooks {

// Replaces a file that other programs read: they see the old text or the new one. The directory
// must exist.
Status WriteFileAtomically(const std::string& path, std::string_view text, int mode);

}  // namespace koord::koordlet::hooks
