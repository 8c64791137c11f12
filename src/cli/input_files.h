#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace koord::cli {

struct InputFile {
  std::string name;  // as messages speak of it
  std::string text;
};

// What -f names: files, directories (all .yaml, .yml and .json below them, by name, but for Helm
// charts) and - for standard input. An error says which cannot be read and why.
StatusOr<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& paths);

}  // namespace koord::cli
