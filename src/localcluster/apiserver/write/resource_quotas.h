#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/json.h"
#include "kube/objects/limits.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/resource_info.h"

namespace koord::apiserver {

class Writer;

// Keeps namespaces within their ResourceQuotas, and tells in the quotas' status what is used.
//
// Kubernetes decides by status.used, which admission raises and a controller corrects later: for a
// moment it may be wrong. Here both are one: what is used is counted from the stored objects,
// inside of every write, so that the next decision and the status rest on what is there, also after
// a crash. A pod that outstays its deletion is looked at again when it stops to count.
class ResourceQuotas {
 public:
  explicit ResourceQuotas(Core& core);

  // Whether an object may be stored, `old` being what it replaces, or null. To be asked right
  // before that: whatever comes between could use up the same room.
  Status Check(const ResourceInfo& info, std::string_view ns, const kube::Json& object,
               const kube::Json* old) const;

  // From now on the status of quotas follows.
  void KeepStatus(Writer& writer);

 private:
  struct Quota {
    std::string name;
    kube::ResourceQuotaSpec spec;
    std::vector<kube::ScopeRequirement> scopes;
    std::set<std::string, std::less<>> resources;  // that it counts
    // What pods, services and claims take, by resource and key, and the sum.
    std::map<std::string, kube::ResourceList, std::less<>> charges;
    kube::ResourceList charged;
  };
  using Quotas = std::map<std::string, Quota, std::less<>>;  // by name

  void OnWritten(const std::string& stored_as, const EntryPtr& before, const EntryPtr& after);
  void OnQuota(const std::string& ns, const EntryPtr& after);
  void Recount(const std::string& ns, Quota& quota);
  // Counts one object anew; null: it is gone.
  void Charge(const std::string& ns, Quota& quota, const std::string& stored_as,
              const std::string& key, const Entry* entry);
  void ReviewLater(const std::string& stored_as, const std::string& key, const kube::Json& object);

  kube::ResourceList UsedOf(std::string_view ns, const Quota& quota) const;
  kube::ResourceList Requested(const ResourceInfo& info, const kube::Json& object,
                               const kube::Json* old) const;
  void Publish(const std::string& ns, const std::string& name);
  void PublishAll();

  Core& core_;
  Writer* writer_ = nullptr;
  std::map<std::string, Quotas, std::less<>> quotas_;          // by namespace
  std::set<std::pair<std::string, std::string>> unpublished_;  // namespace and name
  bool publishing_ = false;                                    // has been posted
};

}  // namespace koord::apiserver
