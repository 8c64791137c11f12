#pragma once
#include <fstream>
#include <string>
#include <string_view>

#include "base/temp_dir.h"

namespace koord {

// For fuzz targets: a file, alone in a directory that goes with it.
class FuzzFile {
 public:
  FuzzFile(std::string_view name, std::string_view content) : path_(directory_.File(name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }

  std::string directory() const { return directory_.path(); }
  const std::string& path() const { return path_; }

 private:
  TempDir directory_{"/dev/shm"};  // in memory: disks are slow
  const std::string path_;
};

}  // namespace koord
