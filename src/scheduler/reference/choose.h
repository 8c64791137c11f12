#pragma once
#include <initializer_list>
#include <iterator>
#include <string>

#include "base/random.h"

namespace koord::scheduler::reference {

template <class T>
T OneOf(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.Below(choices.size()));
}
inline std::string TextOf(Random& random, std::initializer_list<const char*> choices) {
  return OneOf(random, choices);
}

inline int64_t Between(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

// An element of a container that is not empty.
template <class C>
auto AnyOf(Random& random, C& container) {
  return std::next(container.begin(), static_cast<ptrdiff_t>(random.Below(container.size())));
}

}  // namespace koord::scheduler::reference
