#include "koordlet/undo/undo_file.h"

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

UndoFile::UndoFile(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) Load();
}

StatusOr<UndoFile::Content> UndoFile::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseJson(text));
  Content content;
  if (const kube::json::array* features = kube::FindArray(json, {"features"})) {
    for (const kube::Json& feature : *features) {
      if (feature.is_string()) content.features.emplace(feature.as_string());
    }
  }
  const kube::json::object* before = kube::FindObject(json, {"before"});
  if (before == nullptr) return content;
  for (const auto& [setting, value] : *before) {
    const kube::json::array* const owners = kube::FindArray(value, {"owners"});
    if (owners == nullptr) continue;
    Content::Held held{std::string(kube::FindString(value, {"value"})), {}};
    for (const kube::Json& owner : *owners) {
      if (owner.is_string()) held.owners.emplace(owner.as_string());
    }
    if (!held.owners.empty()) content.held.emplace(setting, std::move(held));
  }
  return content;
}

void UndoFile::Load() {
  const auto text = ReadFile(path_, kMaxBytes);
  if (!text.ok()) return;  // the first start
  StatusOr<Content> content = Parse(*text);
  if (content.ok()) {
    content_ = *std::move(content);
  } else {
    LOG_WARNING("What koordlet did before is not known", {"file", path_},
                {"err", content.status()});
  }
}

void UndoFile::Save() {
  if (path_.empty()) return;
  kube::json::array features;
  for (const std::string& feature : content_.features) features.emplace_back(feature);
  kube::json::object before;
  for (const auto& [setting, held] : content_.held) {
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

void UndoFile::SetFeatures(Features features) {
  if (features == content_.features) return;
  content_.features = std::move(features);
  Save();
}

bool UndoFile::Holds(std::string_view setting, std::string_view owner) const {
  const auto it = content_.held.find(setting);
  return it != content_.held.end() && it->second.owners.contains(owner);
}

UndoFile::Settings UndoFile::HeldBy(std::string_view owner, std::string_view prefix) const {
  Settings found;
  for (auto it = content_.held.lower_bound(prefix); it != content_.held.end(); ++it) {
    const auto& [setting, held] = *it;
    if (!setting.starts_with(prefix)) break;
    if (held.owners.contains(owner)) found.emplace(setting, held.before);
  }
  return found;
}

void UndoFile::Hold(std::string_view setting, std::string_view owner, std::string_view before) {
  auto it = content_.held.find(setting);
  if (it == content_.held.end())
    it = content_.held.emplace(setting, Content::Held{std::string(before), {}}).first;
  if (it->second.owners.emplace(owner).second) Save();
}

void UndoFile::Release(std::string_view setting, std::string_view owner,
                       const std::function<bool(const std::string& before)>& put_back) {
  const auto it = content_.held.find(setting);
  if (it == content_.held.end() || !it->second.owners.contains(owner)) return;
  auto& owners = it->second.owners;
  if (owners.size() == 1 && !put_back(it->second.before)) return;
  owners.erase(owners.find(owner));
  if (owners.empty()) content_.held.erase(it);
  Save();
}

}  // namespace koord::koordlet
