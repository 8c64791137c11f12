#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::apiserver {

// Where a list in pages goes on. Clients treat it as opaque, but other servers spell it the same.
struct ContinueToken {
  int64_t revision = 0;  // of the first page; -1: go on at the current state
  std::string start;     // the first key that may follow, relative to what is being listed

  std::string Encode() const;
  static StatusOr<ContinueToken> Decode(std::string_view text);
};

}  // namespace koord::apiserver
