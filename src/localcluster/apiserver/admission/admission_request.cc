#include "localcluster/apiserver/admission/admission_request.h"

#include <algorithm>

namespace koord::apiserver {
namespace {

bool Names(const std::vector<std::string>& wanted, std::string_view value) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& each) { return each == "*" || each == value; });
}

bool NamesResource(std::string_view pattern, std::string_view resource,
                   std::string_view subresource) {
  const size_t slash = pattern.find('/');
  const std::string_view name = pattern.substr(0, slash);
  if (name != "*" && name != resource) return false;
  if (slash == std::string_view::npos) return subresource.empty();
  const std::string_view sub = pattern.substr(slash + 1);
  // "*/*" and "pods/*" include the resource itself.
  return sub == "*" || sub == subresource;
}

}  // namespace

bool MatchesInSomeVersion(const AdmissionRule& rule, Operation operation,
                          const kube::Resource& resource, std::string_view subresource) {
  if (rule.scope == "Namespaced" && !resource.namespaced) return false;
  if (rule.scope == "Cluster" && resource.namespaced) return false;
  return Names(rule.operations, ToString(operation)) && Names(rule.groups, resource.group) &&
         std::any_of(rule.resources.begin(), rule.resources.end(), [&](const std::string& pattern) {
           return NamesResource(pattern, resource.resource, subresource);
         });
}

bool Matches(const AdmissionRule& rule, Operation operation, const kube::Resource& resource,
             std::string_view subresource) {
  return Names(rule.versions, resource.version) &&
         MatchesInSomeVersion(rule, operation, resource, subresource);
}

}  // namespace koord::apiserver
