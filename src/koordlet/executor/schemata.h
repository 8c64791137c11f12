#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::koordlet {

// One kind of resource in a group's schemata: "L3:0=ff;1=ff" or "MB:0=100;1=90".
struct SchemataLine {
  std::string kind;
  std::map<int32_t, uint64_t> values;  // by cache; of L3, bits

  // With or without the kind before it and the semicolon behind.
  static StatusOr<SchemataLine> Parse(std::string_view kind, std::string_view text);

  // "L3:0=ff;1=ff;\n"
  std::string Text() const;
  // Whether the content of the file says the same of all these caches.
  bool Matches(std::string_view schemata) const;
};

}  // namespace koord::koordlet
