#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "koordlet/host/file_tree.h"

namespace koord::koordlet {

// Where a container runtime ("containerd", "docker", "pouch", "cri-o") listens, relative to
// /var/run. None: at none of the usual places.
std::optional<std::string> FindRuntimeSocket(const FileTree& var_run, std::string_view runtime);

}  // namespace koord::koordlet
