#pragma once
#include <absl/functional/any_invocable.h>

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
class QuotaEvaluator {
 public:
  using QuotaPtr = std::shared_ptr<const api::ElasticQuota>;
  using Done = absl::AnyInvocable<void(Status)>;

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

  // `done` runs on the loop, maybe inside the call. With `dry_run` the answer is as it would be,
  // and nothing is written.
  void Evaluate(std::string_view quota, const kube::Pod& pod, bool dry_run, Done done);

 private:
  struct Waiting;
  struct Account;
  using WaitingPtr = std::shared_ptr<Waiting>;

  StatusOr<QuotaPtr> Current(std::string_view name);
  void StartBatch(const std::string& name);
  void Judge(const std::string& name, const QuotaPtr& quota);
  void Write(const std::string& name, const QuotaPtr& quota, const kube::ResourceList& used);
  void OnWritten(const std::string& name, const StatusOr<kube::Json>& answer);
  void Retry(const std::string& name);
  void FinishBatch(const std::string& name, const Status& status);
  int RetriesFor(size_t pods) const;

  kube::Client& client_;
  const FindQuotas find_;
  const Options options_;
  Random random_;
  std::map<std::string, std::unique_ptr<Account>, std::less<>> accounts_;
  Scope scope_;
};

}  // namespace koord::manager
