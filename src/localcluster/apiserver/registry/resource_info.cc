#include "localcluster/apiserver/registry/resource_info.h"

#include <algorithm>

namespace koord::apiserver {

const Subresource* ResourceInfo::FindSubresource(std::string_view name) const {
  const auto it = std::find_if(subresources.begin(), subresources.end(),
                               [&](const Subresource& sub) { return sub.name == name; });
  return it == subresources.end() ? nullptr : &*it;
}

bool ResourceInfo::HasVerb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

}  // namespace koord::apiserver
