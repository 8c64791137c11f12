#pragma once
#include <span>

#include "base/embedded_file.h"

namespace koord::api {

// deploy/crds/*.yaml, for programs that install them.
std::span<const EmbeddedFile> CustomResourceDefinitions();

}  // namespace koord::api
