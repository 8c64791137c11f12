#pragma once
#include <span>

#include "base/embedded_file.h"

namespace koord::localcluster {

// examples/colocation/*.yaml, in the order of their names.
std::span<const EmbeddedFile> ColocationExample();

}  // namespace koord::localcluster
