#pragma once
#include <cstddef>

namespace koord::koordlet {

// How many files this process may have open.
size_t OpenFileLimit();

// As many as the administrator lets it: a full node has thousands of cgroup files, which cost half
// as much where they stay open.
void RaiseOpenFileLimit();

}  // namespace koord::koordlet
