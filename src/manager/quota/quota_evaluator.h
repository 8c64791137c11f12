#pragma once
#include <absl/functional/any_invocable.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/elastic_quota.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "manager/quota/quota_evaluation.h"

namespace koord::manager {

// Charges pods to their quotas as they are created: a pod is let in once the quota's annotation
// says that it is counted.
//
// One write at a time is under way for a quota; pods that come meanwhile are judged together
// afterwards and share the next write. When somebody else was faster, the quota is read again and
// the pods are judged anew.
//
// A review is only an announcement: another check may refuse the pod, or its name be taken. What
// was charged for it is an assumption that holds until the pod shows, or kPatience is over; within
// that time the same pod is not charged twice. Charges for pods that never came are given back by
// QuotaUsageController, which looks at the pods that exist.
class QuotaEvaluator {
 public:
  using QuotaPtr = std::shared_ptr<const api::ElasticQuota>;
  using Done = absl::AnyInvocable<void(Status)>;

  // By then a request that was let in has been answered.
  static constexpr Duration kPatience = std::chrono::seconds(30);

  struct Options {
    int max_retries = 3;       // the least is 3
    Duration retry_jitter{0};  // longest pause before one more attempt
    Duration max_total_jitter = std::chrono::seconds(1);
    Duration timeout = std::chrono::seconds(10);  // for one pod
    uint64_t seed = 1;
  };
  // All quotas of a name, in any namespace.
  using FindQuotas = std::function<std::vector<QuotaPtr>(std::string_view name)>;

  QuotaEvaluator(kube::Client& client, FindQuotas find, Options options);
  ~QuotaEvaluator();

  // `done` runs on the loop, maybe inside the call. `id` is the same when the same pod comes again.
  // With `dry_run` the answer is as it would be, and nothing is written.
  void Evaluate(std::string_view quota, const std::string& id, const kube::Pod& pod, bool dry_run,
                Done done);
  // The pod exists, so that nothing need be assumed about it.
  void Observed(const std::string& id) { assumed_.erase(id); }

 private:
  struct Waiting;
  struct Account;
  struct Assumed {
    std::string quota;
    kube::ResourceList charge;
    SteadyTime until;
  };
  using WaitingPtr = std::shared_ptr<Waiting>;

  StatusOr<QuotaPtr> Current(std::string_view name);
  void StartBatch(const std::string& name);
  void Judge(const std::string& name, const QuotaPtr& quota);
  void Write(const std::string& name, const QuotaPtr& quota, const kube::ResourceList& used);
  void OnWritten(const std::string& name, const StatusOr<kube::Json>& answer);
  void Retry(const std::string& name);
  void FinishBatch(const std::string& name, const Status& status);
  int RetriesFor(size_t pods) const;
  // What of the pod's charge is not assumed yet.
  kube::ResourceList NewCharge(const std::string& name, const api::ElasticQuota& quota,
                               const std::string& id, const kube::Pod& pod) const;
  void Assume(const std::string& name, const Waiting& charged);

  kube::Client& client_;
  const FindQuotas find_;
  const Options options_;
  Random random_;
  std::map<std::string, std::unique_ptr<Account>, std::less<>> accounts_;
  std::map<std::string, Assumed, std::less<>> assumed_;
  std::deque<std::pair<SteadyTime, std::string>> assumed_order_;  // when to look at which
  Scope scope_;
};

}  // namespace koord::manager
