#include "scheduler/plugins/inter_pod_affinity/incoming_terms.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& ns) : ns_(ns) {}

  void Read(std::string_view list, const kube::PodAffinityTerm& term, int32_t weight,
            std::vector<IncomingTerm>& into) {
    StatusOr<PodSelector> selector = PodSelector::Of(term, ns_);
    if (selector.ok()) {
      into.push_back({*std::move(selector), term.topology_key, weight});
    } else if (status_.ok()) {
      status_ = InvalidArgument("{}: {}", list, Message(selector.status()));
    }
  }
  const Status& status() const { return status_; }

 private:
  const std::string& ns_;
  Status status_;
};

}  // namespace

StatusOr<IncomingTerms> IncomingTerms::Of(const kube::Pod& pod) {
  IncomingTerms terms;
  if (!pod.spec.affinity) return terms;
  Reader reader(pod.metadata.ns);
  if (const auto& near = pod.spec.affinity->pod_affinity) {
    for (const auto& each : near->required) {
      reader.Read("requiredAffinityTerms", each, 0, terms.required);
    }
    for (const auto& each : near->preferred) {
      reader.Read("preferredAffinityTerms", each.pod_affinity_term, each.weight, terms.preferred);
    }
  }
  if (const auto& apart = pod.spec.affinity->pod_anti_affinity) {
    for (const auto& each : apart->required) {
      reader.Read("requiredAntiAffinityTerms", each, 0, terms.forbidden);
    }
    for (const auto& each : apart->preferred) {
      reader.Read("preferredAntiAffinityTerms", each.pod_affinity_term, -each.weight,
                  terms.preferred);
    }
  }
  RETURN_IF_ERROR(reader.status());
  return terms;
}

bool IncomingTerms::RequiredMatch(const kube::Pod& pod, const NamespaceCache& namespaces) const {
  return std::ranges::all_of(required, [&](const IncomingTerm& term) {
    return term.selector.Matches(pod.metadata.ns, pod.metadata.labels, namespaces);
  });
}

}  // namespace koord::scheduler
