#include "cli/input_files.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "base/file.h"

namespace koord::cli {
namespace {

namespace fs = std::filesystem;

bool IsManifestName(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml" || path.extension() == ".json";
}

StatusOr<std::vector<std::string>> FilesBelow(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    // Templates are no YAML yet.
    if (it->is_directory(error) && fs::exists(it->path() / "Chart.yaml", error)) {
      it.disable_recursion_pending();
    }
    if (it->is_regular_file(error) && IsManifestName(it->path())) files.push_back(it->path());
  }
  if (error) return InvalidArgument("{}: {}", directory, error.message());
  if (files.empty()) {
    return InvalidArgument("{}: there are no .yaml, .yml or .json files below it", directory);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

StatusOr<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      files.push_back({"<stdin>", std::string(std::istreambuf_iterator<char>(std::cin), {})});
      continue;
    }
    std::vector<std::string> names{path};
    std::error_code error;
    if (fs::is_directory(path, error)) {
      ASSIGN_OR_RETURN(names, FilesBelow(path));
    }
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(std::string text, ReadFile(name));
      files.push_back({name, std::move(text)});
    }
  }
  return files;
}

}  // namespace koord::cli
