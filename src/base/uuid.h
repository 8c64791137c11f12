#pragma once
#include <string>

#include "base/random.h"

namespace koord {

// A version 4 UUID.
std::string NewUuid(Random& random);

}  // namespace koord
