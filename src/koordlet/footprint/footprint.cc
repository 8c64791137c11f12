#include "koordlet/footprint/footprint.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "kube/json.h"
#include "kube/serving/private_file.h"

namespace koord::koordlet {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

}  // namespace

Footprint::Footprint(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) Load();
}

void Footprint::Load() {
  const auto text = ReadFile(path_, kMaxBytes);
  if (!text.ok()) return;  // the first start
  const auto json = kube::ParseJson(*text);
  if (!json.ok()) {
    LOG_WARNING("What koordlet did before is not known", {"file", path_}, {"err", json.status()});
    return;
  }
  if (const kube::json::array* features = kube::FindArray(*json, {"features"})) {
    for (const kube::Json& feature : *features) {
      if (feature.is_string()) features_.emplace(feature.as_string());
    }
  }
  const kube::Json* before = kube::Find(*json, {"before"});
  if (before == nullptr || !before->is_object()) return;
  for (const auto& [setting, value] : before->as_object()) {
    if (value.is_string()) before_.emplace(setting, value.as_string());
  }
}

void Footprint::Save() {
  if (path_.empty()) return;
  kube::json::array features;
  for (const std::string& feature : features_) features.emplace_back(feature);
  kube::json::object before;
  for (const auto& [setting, value] : before_) before.emplace(setting, value);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  const Status written =
      kube::WritePrivateFile(path_, kube::Serialize(kube::Json{{"features", std::move(features)},
                                                               {"before", std::move(before)}}));
  if (!written.ok()) {
    LOG_WARNING("What koordlet does cannot be put back after a restart", {"err", written});
  }
}

void Footprint::SetFeatures(Features features) {
  if (features == features_) return;
  features_ = std::move(features);
  Save();
}

std::optional<std::string> Footprint::Before(std::string_view setting) const {
  const auto it = before_.find(setting);
  if (it == before_.end()) return std::nullopt;
  return it->second;
}

void Footprint::Remember(std::string_view setting, std::string_view value) {
  if (before_.emplace(setting, value).second) Save();
}

void Footprint::Forget(std::string_view setting) {
  const auto it = before_.find(setting);
  if (it == before_.end()) return;
  before_.erase(it);
  Save();
}

std::map<std::string, std::string, std::less<>> Footprint::AllBefore(
    std::string_view prefix) const {
  std::map<std::string, std::string, std::less<>> found;
  for (auto it = before_.lower_bound(prefix); it != before_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    found.insert(*it);
  }
  return found;
}

}  // namespace koord::koordlet
