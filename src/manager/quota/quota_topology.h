#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/json.h"
#include "model/quota/quota_index.h"

namespace koord::manager {

using model::QuotaInfo;

// Which pods are in the cluster, as far as quotas ask.
struct QuotaPods {
  std::function<std::vector<kube::ObjectKey>(std::string_view quota)> of_quota;  // by label
  std::function<bool(std::string_view ns)> in_namespace;                         // any at all
};

struct QuotaRules {
  bool update_resource_key = false;  // keys of max need only be among the parent's
  bool guarantee_usage = false;      // min must be backed by what the tree guarantees
};

// The tree of all ElasticQuotas, by name, and whether a change keeps it sound.
//
// It is fed by the watch. What was just admitted counts at once, so that two requests in a row
// cannot contradict each other; if the watch does not show it within a few seconds, it never
// happened (somebody else refused it) and is forgotten.
class QuotaTopology {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(10);
  // Of what was admitted and does not show yet. Callers may be anybody: beyond this nothing is
  // remembered.
  static constexpr size_t kMostExpected = 1000;

  QuotaTopology(const Clock& clock, QuotaRules rules) : clock_(clock), rules_(rules) {}

  // From the watch.
  void Set(const api::ElasticQuota& quota);
  void Remove(const std::string& name);

  // Whether the change may be made; errors are what users see. What is allowed is remembered
  // unless `remember` is false.
  Status Create(const api::ElasticQuota& quota, bool remember);
  Status Update(const api::ElasticQuota& before, const api::ElasticQuota& after,
                const QuotaPods& pods, bool remember);
  Status Delete(const std::string& name, const QuotaPods& pods, bool remember);
  // For a quota whose namespace is being deleted: what goes with the namespace does not keep it.
  // Its parents, children and pods are deleted in any order, and what is refused once may keep all
  // that is behind it, and so the namespace, for ever.
  Status DeleteWithNamespace(const kube::ObjectKey& quota, const QuotaPods& pods, bool remember);

  // Null if there is none.
  const QuotaInfo* Find(std::string_view name) const;
  // The quota that is charged for the namespace's pods, by its annotation; "" if none is.
  std::string_view OfNamespace(std::string_view ns) const;
  // The quota that a pod is charged to: see QuotaIndex::NameFor.
  std::string QuotaOf(const kube::Labels& pod_labels, std::string_view ns, bool no_default) const;
  // All of it, as /elasticQuota shows it.
  kube::Json ToJson() const;

 private:
  struct Expected {
    std::optional<QuotaInfo> info;  // nothing: deleted
    SteadyTime until;
  };

  void Expect(const std::string& name, std::optional<QuotaInfo> info);
  void Expire() const;
  void Rebuild(const std::string& name) const;

  Status CheckUnused(const QuotaInfo& info, const QuotaPods& pods,
                     std::string_view except_in) const;
  std::string_view BoundElsewhere(const QuotaInfo& info, std::string_view& ns) const;
  Status CheckPlace(const QuotaInfo& info, const QuotaInfo* before, const QuotaPods& pods) const;
  Status CheckAcyclic(const QuotaInfo& info) const;
  Status CheckIsParent(const QuotaInfo& info, const QuotaInfo& before, const QuotaPods& pods) const;
  Status CheckTreeId(const QuotaInfo& info, const QuotaInfo* before) const;
  Status CheckKeys(const QuotaInfo& info, const QuotaInfo* parent) const;
  Status CheckMinSums(const QuotaInfo& info, const QuotaInfo* parent) const;
  Status CheckGuarantee(const QuotaInfo& info) const;

  const Clock& clock_;
  const QuotaRules rules_;
  std::map<std::string, QuotaInfo, std::less<>> confirmed_;
  mutable std::map<std::string, Expected, std::less<>> expected_;
  // What counts: the confirmed with the expected on top.
  mutable model::QuotaIndex index_;
};

}  // namespace koord::manager
