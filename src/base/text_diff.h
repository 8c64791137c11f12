#pragma once
#include <string>
#include <string_view>

namespace koord {

struct DiffOptions {
  std::string_view from_name, to_name;  // for the header
  size_t context = 3;                   // lines around each change
  bool color = false;                   // as terminals show it
};

// What makes `to` of `from`, line by line, as `diff -u` prints it; empty if they are the same. For
// texts that people read: the cost grows with the product of the lines that differ.
std::string UnifiedDiff(std::string_view from, std::string_view to, const DiffOptions& options);

}  // namespace koord
