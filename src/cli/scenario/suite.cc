#include "cli/scenario/suite.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace koord::scenario {
namespace {

namespace fs = std::filesystem;

bool IsYaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return InvalidArgument("{}: cannot be read", path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

StatusOr<std::vector<std::string>> FindScenarioFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::exists(path, error)) return InvalidArgument("{}: no such file or folder", path);
      files.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    for (auto it = fs::recursive_directory_iterator(path, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      if (it->is_regular_file(error) && IsYaml(it->path())) below.push_back(it->path().string());
    }
    if (error) return InvalidArgument("{}: {}", path, error.message());
    std::sort(below.begin(), below.end());
    files.insert(files.end(), below.begin(), below.end());
  }
  if (files.empty()) return InvalidArgument("no *.yaml file below {}", paths.front());
  return files;
}

StatusOr<std::vector<Scenario>> LoadScenarios(const std::vector<std::string>& files) {
  std::vector<Scenario> scenarios;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    ASSIGN_OR_RETURN(std::vector<Scenario> parsed, ParseScenarios(file, text));
    std::move(parsed.begin(), parsed.end(), std::back_inserter(scenarios));
  }
  return scenarios;
}

}  // namespace koord::scenario
