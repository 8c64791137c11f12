#include "koordlet/prediction/checkpoint_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "base/strings.h"
#include "kube/serving/private_file.h"

namespace koord::koordlet {
namespace {

constexpr size_t kMaxCheckpointBytes = 1 << 20;

// Keys come from pods: none of them may name anything outside of the directory.
bool IsFileName(std::string_view key) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  return !key.empty() && key.size() <= 200 && std::ranges::all_of(key, is_plain);
}

}  // namespace

std::vector<std::string> CheckpointFiles::List() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->symlink_status(error).type() == std::filesystem::file_type::regular) {
      names.push_back(it->path().filename());
    }
  }
  std::ranges::sort(names);
  return names;
}

StatusOr<std::string> CheckpointFiles::Read(const std::string& key) const {
  return ReadFile(directory_ + "/" + key, kMaxCheckpointBytes);
}

Status CheckpointFiles::Write(const std::string& key, std::string_view text) {
  if (!IsFileName(key)) return InvalidArgument("{}: no name for a file", Quote(key));
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  return kube::WritePrivateFile(directory_ + "/" + key, text);
}

void CheckpointFiles::Remove(const std::string& key) {
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(directory_) / std::filesystem::path(key).filename(),
                          ignored);
}

}  // namespace koord::koordlet
