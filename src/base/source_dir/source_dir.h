#pragma once
#include <filesystem>
#include <string_view>

namespace koord {

// A file or folder of the checkout that a test was built from: SourcePath("deploy/crds"). Known to
// one small library alone, so that no other object depends on the folder that a checkout is in.
std::filesystem::path SourcePath(std::string_view relative);

}  // namespace koord
