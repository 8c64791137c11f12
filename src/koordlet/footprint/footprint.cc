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
    const kube::json::array* const owners = kube::FindArray(value, {"owners"});
    if (owners == nullptr) continue;
    Held held{std::string(kube::FindString(value, {"value"})), {}};
    for (const kube::Json& owner : *owners) {
      if (owner.is_string()) held.owners.emplace(owner.as_string());
    }
    if (!held.owners.empty()) held_.emplace(setting, std::move(held));
  }
}

void Footprint::Save() {
  if (path_.empty()) return;
  kube::json::array features;
  for (const std::string& feature : features_) features.emplace_back(feature);
  kube::json::object before;
  for (const auto& [setting, held] : held_) {
    kube::json::array owners;
    for (const std::string& owner : held.owners) owners.emplace_back(owner);
    before.emplace(setting, kube::Json{{"value", held.before}, {"owners", std::move(owners)}});
  }
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

bool Footprint::Holds(std::string_view setting, std::string_view owner) const {
  const auto it = held_.find(setting);
  return it != held_.end() && it->second.owners.contains(owner);
}

Footprint::Settings Footprint::HeldBy(std::string_view owner, std::string_view prefix) const {
  Settings found;
  for (auto it = held_.lower_bound(prefix); it != held_.end(); ++it) {
    const auto& [setting, held] = *it;
    if (!setting.starts_with(prefix)) break;
    if (held.owners.contains(owner)) found.emplace(setting, held.before);
  }
  return found;
}

void Footprint::Hold(std::string_view setting, std::string_view owner, std::string_view before) {
  auto it = held_.find(setting);
  if (it == held_.end()) it = held_.emplace(setting, Held{std::string(before), {}}).first;
  if (it->second.owners.emplace(owner).second) Save();
}

void Footprint::Release(std::string_view setting, std::string_view owner,
                        const std::function<bool(const std::string& before)>& put_back) {
  const auto it = held_.find(setting);
  if (it == held_.end() || !it->second.owners.contains(owner)) return;
  auto& owners = it->second.owners;
  if (owners.size() == 1 && !put_back(it->second.before)) return;
  owners.erase(owners.find(owner));
  if (owners.empty()) held_.erase(it);
  Save();
}

}  // namespace koord::koordlet
