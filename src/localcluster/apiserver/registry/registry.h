#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "localcluster/apiserver/registry/resource_info.h"
#include "localcluster/apiserver/registry/strategy.h"

namespace koord::apiserver {

// One version of an API group with its resources, as discovery shows them.
struct ApiVersion {
  std::string version;
  std::vector<ResourceInfoPtr> resources;  // by name
};

struct ApiGroup {
  std::string name;                  // empty for core
  std::vector<ApiVersion> versions;  // the preferred one first
};

// Every resource that the server knows: the built-in ones, and the custom ones that
// CustomResourceDefinitions add and remove while it runs.
class Registry {
 public:
  Registry();

  // Null if there is none.
  ResourceInfoPtr Find(std::string_view group, std::string_view version,
                       std::string_view resource) const;
  // The resource of a kind, in that version or, if `version` is empty, in the preferred one.
  ResourceInfoPtr FindKind(std::string_view group, std::string_view version,
                           std::string_view kind) const;
  const ApiGroup* FindGroup(std::string_view group) const;
  bool Serves(std::string_view group, std::string_view version) const;

  // Core first, then by name.
  const std::vector<ApiGroup>& groups() const { return groups_; }

  // All served versions of one custom resource; replaces what was there. A group of which nothing
  // is left disappears.
  void SetCustom(std::string_view group, std::string_view resource,
                 std::vector<ResourceInfoPtr> versions);
  void RemoveCustom(std::string_view group, std::string_view resource);

  // Moves with every change, so that documents made of the registry can be kept.
  uint64_t generation() const { return generation_; }

 private:
  void Add(ResourceInfoPtr info);

  std::vector<ApiGroup> groups_;
  uint64_t generation_ = 1;
};

// Kubernetes' order of versions: v10 before v2 before v1 before v2beta1 before v1alpha1; other
// names last, by alphabet. True if `a` is preferred to `b`.
bool PreferredVersion(std::string_view a, std::string_view b);

const Strategy& StrategyOf(const ResourceInfo& info);

// The resources that Kubernetes itself defines.
std::vector<ResourceInfoPtr> BuiltinResources();

}  // namespace koord::apiserver
