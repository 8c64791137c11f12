#include "koordlet/hooks/terway_qos/terway_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "koordlet/hooks/engine/atomic_file.h"

namespace koord::koordlet::hooks {
namespace {

class DirectoryTerwayFiles final : public TerwayFiles {
 public:
  explicit DirectoryTerwayFiles(std::string directory) : directory_(std::move(directory)) {}

  Status Write(std::string_view name, std::string_view text) override {
    return WriteFileAtomically((directory_ / name).string(), text, 0644);
  }

  Status Remove(std::string_view name) override {
    std::error_code error;
    std::filesystem::remove(directory_ / name, error);
    if (!error) return absl::OkStatus();
    return Internal("{}: {}", (directory_ / name).string(), error.message());
  }

 private:
  const std::filesystem::path directory_;
};

}  // namespace

std::unique_ptr<TerwayFiles> MakeTerwayFiles(std::string directory) {
  return std::make_unique<DirectoryTerwayFiles>(std::move(directory));
}

}  // namespace koord::koordlet::hooks
