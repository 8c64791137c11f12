#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/admission_operation.h"
#include "kube/http.h"
#include "kube/json.h"
#include "kube/resource.h"

namespace koord::apiserver {

using kube::Operation;

// A write on its way to the store, as admission sees it.
struct AdmissionRequest {
  Operation operation = Operation::kCreate;
  kube::Resource resource;
  std::string subresource;
  std::string name;  // may be empty when it is to be generated
  std::string ns;
  kube::Json object;      // null for DELETE
  kube::Json old_object;  // null for CREATE
  kube::Json options;     // {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", ...}
  kube::UserInfo user;
  bool dry_run = false;

  // The same resource in its other versions: rules with matchPolicy Equivalent also match those.
  std::vector<kube::Resource> equivalents;
  // Puts a patched object in order again (prune, default); null if there is nothing to do. A
  // failure ends the request.
  std::function<Status(kube::Json& object)> normalize;
};

// Which requests a hook wants to see. "*" matches all; but a resource of "*" leaves subresources
// out: "pods/*" means pods and all that belongs to them, "*/status" every status, "*/*" everything.
struct AdmissionRule {
  std::vector<std::string> operations, groups, versions, resources;
  std::string scope = "*";  // Cluster, Namespaced or *
};

bool Matches(const AdmissionRule& rule, Operation operation, const kube::Resource& resource,
             std::string_view subresource);
// The same whatever versions the rule names.
bool MatchesInSomeVersion(const AdmissionRule& rule, Operation operation,
                          const kube::Resource& resource, std::string_view subresource);

}  // namespace koord::apiserver
