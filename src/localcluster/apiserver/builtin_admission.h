#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"
#include "localcluster/apiserver/core.h"
#include "localcluster/apiserver/registry/resource_info.h"

namespace koord::apiserver {

// The admission that Kubernetes has on by default, as far as it matters here: objects go only into
// namespaces that live; pods get their priority, service account and the tolerations of short node
// outages; claims get the default storage class, services their addresses.
class BuiltinAdmission {
 public:
  explicit BuiltinAdmission(Core& core);

  Status Create(const ResourceInfo& info, std::string_view ns, kube::Json& object);
  Status Update(const ResourceInfo& info, kube::Json& object);
  Status Delete(const ResourceInfo& info, std::string_view name);

 private:
  struct PriorityClass {
    int64_t value = 0;
    std::string preemption_policy;
  };

  Status CheckNamespace(const ResourceInfo& info, std::string_view ns, const kube::Json& object);
  Status AdmitPod(kube::Json& pod);
  Status SetPriority(kube::json::object& spec, const kube::Json& pod);
  void LoadPriorityClasses();
  void SetStorageClass(kube::Json& claim);

  Core& core_;
  // Read again after any of them has changed.
  std::optional<std::map<std::string, PriorityClass, std::less<>>> priorities_;
  std::string default_priority_;  // the name of the global default, if there is one
};

}  // namespace koord::apiserver
