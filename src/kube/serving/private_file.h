#pragma once
#include <string>
#include <string_view>

#include "base/status.h"

// Files with secrets: only their owner may read them.
namespace koord::kube {

Status MakePrivateDirectory(const std::string& path);            // and those above it, 0700
StatusOr<std::string> ReadPrivateFile(const std::string& path);  // kNotFound if there is none
// Readers see the old text or the new one, never a part.
Status WritePrivateFile(const std::string& path, std::string_view text);  // 0600

}  // namespace koord::kube
