#pragma once
#include <string>

namespace koord {

// Of the machine, or the pod, that this runs on; empty if it has none.
std::string HostName();

}  // namespace koord
