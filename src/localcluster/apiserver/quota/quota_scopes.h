#pragma once
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/objects/limits.h"

namespace koord::apiserver {

// What a quota's scopes and scopeSelector ask for, as one list.
std::vector<kube::ScopeRequirement> ScopesOf(const kube::ResourceQuotaSpec& spec);

// Whether a quota with these scopes is about the object. One without scopes is about everything,
// one with scopes only about pods and, by VolumeAttributesClass, claims.
bool InScope(const std::vector<kube::ScopeRequirement>& scopes, std::string_view resource,
             const kube::Json& object);

}  // namespace koord::apiserver
