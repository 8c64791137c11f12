#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/json.h"
#include "kube/objects/limits.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/resource_info.h"
#include "localcluster/apiserver/write/resource_quotas.h"

namespace koord::apiserver {

// The admission that Kubernetes has on by default, as far as it matters here: objects go only into
// namespaces that live; pods get their priority, service account and the tolerations of short node
// outages; claims get the default storage class, services their addresses. LimitRanges and
// ResourceQuotas bound what there may be.
class BuiltinAdmission {
 public:
  explicit BuiltinAdmission(Core& core);

  // Before webhooks have changed the object.
  Status Create(const ResourceInfo& info, std::string_view ns, kube::Json& object);
  Status Update(const ResourceInfo& info, kube::Json& object);
  Status Delete(const ResourceInfo& info, std::string_view name);

  // Afterwards: whether it keeps to the LimitRanges of its namespace. `old` is null for a creation.
  Status CheckLimits(const ResourceInfo& info, std::string_view ns, std::string_view subresource,
                     const kube::Json& object, const kube::Json* old) const;
  // At the very end, right before it is stored: whether quotas have room for it.
  Status CheckQuotas(const ResourceInfo& info, std::string_view ns, std::string_view subresource,
                     const kube::Json& object, const kube::Json* old) const;

  ResourceQuotas& quotas() { return quotas_; }

 private:
  struct PriorityClass {
    int64_t value = 0;
    std::string preemption_policy;
  };

  Status CheckNamespace(const ResourceInfo& info, std::string_view ns, const kube::Json& object);
  Status AdmitPod(std::string_view ns, kube::Json& pod);
  Status SetPriority(kube::json::object& spec, const kube::Json& pod);
  void LoadPriorityClasses();
  void SetStorageClass(kube::Json& claim);
  std::vector<kube::LimitRange> LimitRangesOf(std::string_view ns) const;

  Core& core_;
  ResourceQuotas quotas_;
  // Read again after any of them has changed.
  std::optional<std::map<std::string, PriorityClass, std::less<>>> priorities_;
  std::string default_priority_;  // the name of the global default, if there is one
};

}  // namespace koord::apiserver
