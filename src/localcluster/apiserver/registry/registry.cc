#include "localcluster/apiserver/registry/registry.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/strings.h"

namespace koord::apiserver {
namespace {

struct ParsedVersion {
  int stability = 0;  // 3 GA, 2 beta, 1 alpha
  int64_t major = 0;
  int64_t minor = 0;
  auto operator<=>(const ParsedVersion&) const = default;
};

std::optional<int64_t> TakeNumber(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseInt(text.substr(0, end));
  if (number) text.remove_prefix(end);
  return number;
}

std::optional<ParsedVersion> ParseVersion(std::string_view text) {
  if (!text.starts_with('v')) return {};
  text.remove_prefix(1);
  const auto major = TakeNumber(text);
  if (!major) return {};
  if (text.empty()) return ParsedVersion{3, *major, 0};
  for (const auto& [word, stability] : {std::pair{"beta", 2}, std::pair{"alpha", 1}}) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(std::string_view(word).size());
    const auto minor = TakeNumber(text);
    if (minor && text.empty()) return ParsedVersion{stability, *major, *minor};
    return {};
  }
  return {};
}

template <class Groups>
auto FindGroupIn(Groups& groups, std::string_view name) {
  return std::find_if(groups.begin(), groups.end(),
                      [&](const ApiGroup& group) { return group.name == name; });
}

template <class Group>
auto FindVersionIn(Group& group, std::string_view version) {
  return std::find_if(group.versions.begin(), group.versions.end(),
                      [&](const ApiVersion& item) { return item.version == version; });
}

}  // namespace

bool PreferredVersion(std::string_view a, std::string_view b) {
  const auto left = ParseVersion(a);
  const auto right = ParseVersion(b);
  if (left && right) return *left > *right;
  if (left || right) return left.has_value();
  return a < b;
}

const Strategy& StrategyOf(const ResourceInfo& info) {
  return info.strategy != nullptr ? *info.strategy : CustomStrategy();
}

Registry::Registry() {
  for (ResourceInfoPtr& info : BuiltinResources()) Add(std::move(info));
}

void Registry::Add(ResourceInfoPtr info) {
  const kube::Resource& resource = info->resource;
  auto group = FindGroupIn(groups_, resource.group);
  if (group == groups_.end()) {
    group = std::find_if(groups_.begin(), groups_.end(),
                         [&](const ApiGroup& item) { return item.name > resource.group; });
    group = groups_.insert(group, ApiGroup{resource.group, {}});
  }
  auto version = FindVersionIn(*group, resource.version);
  if (version == group->versions.end()) {
    version = std::find_if(
        group->versions.begin(), group->versions.end(),
        [&](const ApiVersion& item) { return PreferredVersion(resource.version, item.version); });
    version = group->versions.insert(version, ApiVersion{resource.version, {}});
  }
  auto& resources = version->resources;
  const auto place = std::find_if(resources.begin(), resources.end(), [&](const auto& item) {
    return item->resource.resource > resource.resource;
  });
  resources.insert(place, std::move(info));
  ++generation_;
}

ResourceInfoPtr Registry::Find(std::string_view group, std::string_view version,
                               std::string_view resource) const {
  const auto found_group = FindGroupIn(groups_, group);
  if (found_group == groups_.end()) return nullptr;
  const auto found_version = FindVersionIn(*found_group, version);
  if (found_version == found_group->versions.end()) return nullptr;
  const auto& resources = found_version->resources;
  const auto it = std::lower_bound(
      resources.begin(), resources.end(), resource,
      [](const auto& info, std::string_view name) { return info->resource.resource < name; });
  return it != resources.end() && (*it)->resource.resource == resource ? *it : nullptr;
}

ResourceInfoPtr Registry::FindKind(std::string_view group, std::string_view version,
                                   std::string_view kind) const {
  const ApiGroup* found = FindGroup(group);
  if (found == nullptr) return nullptr;
  for (const ApiVersion& item : found->versions) {
    if (!version.empty() && item.version != version) continue;
    for (const ResourceInfoPtr& info : item.resources) {
      if (info->resource.kind == kind) return info;
    }
  }
  return nullptr;
}

const ApiGroup* Registry::FindGroup(std::string_view group) const {
  const auto it = FindGroupIn(groups_, group);
  return it == groups_.end() ? nullptr : &*it;
}

bool Registry::Serves(std::string_view group, std::string_view version) const {
  const ApiGroup* found = FindGroup(group);
  return found != nullptr && FindVersionIn(*found, version) != found->versions.end();
}

void Registry::SetCustom(std::string_view group, std::string_view resource,
                         std::vector<ResourceInfoPtr> versions) {
  RemoveCustom(group, resource);
  for (ResourceInfoPtr& info : versions) Add(std::move(info));
}

void Registry::RemoveCustom(std::string_view group, std::string_view resource) {
  const auto found = FindGroupIn(groups_, group);
  if (found == groups_.end()) return;
  for (ApiVersion& version : found->versions) {
    std::erase_if(version.resources, [&](const ResourceInfoPtr& info) {
      return info->custom && info->resource.resource == resource;
    });
  }
  std::erase_if(found->versions, [](const ApiVersion& item) { return item.resources.empty(); });
  if (found->versions.empty()) groups_.erase(found);
  ++generation_;
}

}  // namespace koord::apiserver
