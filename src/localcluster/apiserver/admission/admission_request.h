#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/http.h"
#include "kube/json.h"
#include "kube/resource.h"

namespace koord::apiserver {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };
std::string_view ToString(Operation operation);  // "CREATE"

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

}  // namespace koord::apiserver
