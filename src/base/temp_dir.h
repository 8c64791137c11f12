#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace koord {

// A directory for a test's files that goes away with its owner.
class TempDir {
 public:
  TempDir() : TempDir(std::filesystem::temp_directory_path()) {}
  explicit TempDir(const std::filesystem::path& parent) {
    std::string path = parent / "koord-XXXXXX";
    path_ = mkdtemp(path.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_; }
  std::string File(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace koord
