#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/http/write_options.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {

// What a POST to a pod's subresources does: binding assigns it to a node, eviction deletes it if
// its disruption budgets allow.
class PodActions {
 public:
  PodActions(Core& core, Writer& writer);

  void Bind(RequestPtr request);  // also a POST to `bindings`
  void Evict(RequestPtr request);

 private:
  struct Eviction;
  void EvictAttempt(std::shared_ptr<Eviction> eviction);
  void EvictWithinBudget(std::shared_ptr<Eviction> eviction, const kube::Json& budget);
  void DeleteEvicted(std::shared_ptr<Eviction> eviction, std::string resource_version);
  // The budgets in the pod's namespace that select it.
  std::vector<kube::Json> BudgetsFor(const Eviction& eviction, const kube::Json& pod) const;
  void Assign(RequestPtr request, WriteIntent intent, std::shared_ptr<const kube::Json> binding);
  void RespondCreated(RequestPtr request, Revision revision);

  Core& core_;
  Writer& writer_;
  ResourceInfoPtr pods_;
  ResourceInfoPtr budgets_;
};

}  // namespace koord::apiserver
