#pragma once
#include <string>
#include <vector>

#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/review.h"
#include "manager/webhook/review/webhook_metrics.h"

// /validate-pod-binding: who may put pods on nodes. Keeps other schedulers' hands off a cluster
// whose accounting rests on one.
namespace koord::manager::webhook {

struct BindingOptions {
  std::vector<std::string> user_names;  // parts of names that may bind; empty: everybody
  bool dry_run = false;
  std::vector<std::string> namespaces;  // where it is enforced; exactly "*": everywhere
  std::vector<std::string> exclude_namespaces{"kube-system"};
  std::vector<std::string> bypass_labels{"koordinator.sh/binding-admission-bypass"};
  std::vector<std::string> bypass_annotations;
};

// Whether a pod is put on a node: by its part "binding", or as of old by an object of its own.
bool IsPodBinding(const Request& request);
// The name of that pod.
std::string BoundPodOf(const Request& request);

Response ValidateBinding(const Request& request, const ClusterView& view,
                         const BindingOptions& options, WebhookMetrics* metrics);

}  // namespace koord::manager::webhook
