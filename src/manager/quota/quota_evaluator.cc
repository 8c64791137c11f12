#include "manager/quota/quota_evaluator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/resources.h"
#include "kube/api_error.h"
#include "kube/informer/resource_version.h"

namespace koord::manager {

using kube::Json;
using kube::ResourceList;

// One pod and who asks for it.
struct QuotaEvaluator::Waiting {
  Waiting(EventLoop& loop, Done done) : done(std::move(done)), timer(loop) {}

  void Finish(const Status& status) {
    timer.Cancel();
    if (Done call = std::exchange(done, nullptr)) call(status);
  }
  bool finished() const { return done == nullptr; }

  std::string id;
  kube::Pod pod;
  ResourceList charge;  // in all, as it was judged last
  Done done;
  Timer timer;
};

struct QuotaEvaluator::Account {
  explicit Account(EventLoop& loop) : pause(loop) {}

  std::vector<WaitingPtr> next;   // judged when the present batch is through
  std::vector<WaitingPtr> batch;  // being judged
  std::vector<WaitingPtr> charged;
  QuotaPtr written;  // as our last write left it; the watch may be behind
  bool busy = false;
  int attempts_left = 0;
  Duration jittered{0};
  Timer pause;
};

QuotaEvaluator::QuotaEvaluator(kube::Client& client, FindQuotas find, Options options)
    : client_(client), find_(std::move(find)), options_(options), random_(options.seed) {}

QuotaEvaluator::~QuotaEvaluator() = default;

StatusOr<QuotaEvaluator::QuotaPtr> QuotaEvaluator::Current(std::string_view name) {
  const std::vector<QuotaPtr> found = find_(name);
  if (found.empty()) return NotFound("elastic quota {} not found", name);
  if (found.size() > 1) return InvalidArgument("more than one elastic quota {} found", name);
  const auto account = accounts_.find(name);
  if (account == accounts_.end() || account->second->written == nullptr) return found[0];
  const QuotaPtr& written = account->second->written;
  const bool is_newer =
      written->metadata.uid == found[0]->metadata.uid &&
      kube::IsOlderVersion(found[0]->metadata.resource_version, written->metadata.resource_version);
  return is_newer ? written : found[0];
}

ResourceList QuotaEvaluator::NewCharge(const std::string& name, const api::ElasticQuota& quota,
                                       const std::string& id, const kube::Pod& pod) const {
  ResourceList charge = ChargeOf(pod, quota, client_.loop().clock().Now());
  const auto assumed = assumed_.find(id);
  const bool is_new = assumed == assumed_.end() || assumed->second.quota != name ||
                      assumed->second.until <= client_.loop().clock().Steady();
  if (is_new) return charge;
  kube::SubtractFrom(charge, assumed->second.charge);
  std::erase_if(charge, [](const auto& entry) { return entry.second.Sign() <= 0; });
  return charge;
}

void QuotaEvaluator::Assume(const std::string& name, const Waiting& charged) {
  const SteadyTime now = client_.loop().clock().Steady();
  while (!assumed_order_.empty() && assumed_order_.front().first <= now) {
    const auto due = assumed_.find(assumed_order_.front().second);
    if (due != assumed_.end() && due->second.until <= now) assumed_.erase(due);
    assumed_order_.pop_front();
  }
  Assumed& assumed = assumed_[charged.id];
  if (assumed.quota != name) assumed = {.quota = name, .charge = {}, .until = {}};
  kube::RaiseTo(assumed.charge, charged.charge);
  assumed.until = now + kPatience;
  assumed_order_.emplace_back(assumed.until, charged.id);
}

void QuotaEvaluator::Evaluate(std::string_view quota, const std::string& id, const kube::Pod& pod,
                              bool dry_run, Done done) {
  const StatusOr<QuotaPtr> found = Current(quota);
  if (!found.ok()) return done(found.status());
  if (const Status status = CheckNotNegative(pod); !status.ok()) return done(status);
  if (!IsEvaluated(**found)) return done(absl::OkStatus());
  const ResourceList charge = NewCharge(std::string(quota), **found, id, pod);
  if (charge.empty()) return done(absl::OkStatus());
  if (dry_run) {
    const StatusOr<QuotaBalance> balance = BalanceOf(**found);
    return done(balance.ok() ? CheckCharge(kube::KeyOf((*found)->metadata), *balance, charge)
                             : balance.status());
  }

  const std::string name(quota);
  auto waiting = std::make_shared<Waiting>(client_.loop(), std::move(done));
  waiting->id = id;
  waiting->pod = pod;
  waiting->timer.Set(options_.timeout, [waiting = std::weak_ptr(waiting)] {
    if (const auto alive = waiting.lock()) {
      alive->Finish(absl::DeadlineExceededError(
          "Internal error occurred: elastic quota evaluation timed out"));
    }
  });
  auto& account = accounts_[name];
  if (account == nullptr) account = std::make_unique<Account>(client_.loop());
  account->next.push_back(std::move(waiting));
  if (!account->busy) StartBatch(name);
}

int QuotaEvaluator::RetriesFor(size_t pods) const {
  const int most = std::max(3, options_.max_retries);
  const int wanted = pods <= 1 ? 3 : 3 + static_cast<int>(std::bit_width(pods)) - 1;
  return std::min(most, wanted);
}

void QuotaEvaluator::StartBatch(const std::string& name) {
  Account& account = *accounts_[name];
  std::erase_if(account.next, [](const WaitingPtr& each) { return each->finished(); });
  account.busy = !account.next.empty();
  if (!account.busy) return;
  account.batch = std::exchange(account.next, {});
  account.attempts_left = RetriesFor(account.batch.size());
  account.jittered = Duration::zero();
  const StatusOr<QuotaPtr> quota = Current(name);
  quota.ok() ? Judge(name, *quota) : FinishBatch(name, quota.status());
}

// Lets in, one after the other, those that fit; the others have their answer.
void QuotaEvaluator::Judge(const std::string& name, const QuotaPtr& quota) {
  Account& account = *accounts_[name];
  StatusOr<QuotaBalance> balance = BalanceOf(*quota);
  if (!balance.ok()) return FinishBatch(name, balance.status());
  account.charged.clear();
  bool changed = false;
  for (const WaitingPtr& each : account.batch) {
    if (each->finished()) continue;
    const ResourceList charge = NewCharge(name, *quota, each->id, each->pod);
    const Status fits = CheckCharge(kube::KeyOf(quota->metadata), *balance, charge);
    if (!fits.ok()) {
      each->Finish(fits);
      continue;
    }
    changed |= !charge.empty();
    kube::AddTo(balance->used, charge);
    each->charge = ChargeOf(each->pod, *quota, client_.loop().clock().Now());
    account.charged.push_back(each);
  }
  if (!changed) return FinishBatch(name, absl::OkStatus());
  Write(name, quota, balance->used);
}

void QuotaEvaluator::Write(const std::string& name, const QuotaPtr& quota,
                           const ResourceList& used) {
  const Json patch{
      {"metadata",
       {{"resourceVersion", quota->metadata.resource_version},
        {"annotations", {{api::kAnnotationQuotaChildRequest, api::EncodeAnnotation(used)}}}}}};
  client_.Patch(api::kElasticQuotas, kube::KeyOf(quota->metadata), kube::PatchType::kMerge, patch,
                {}, scope_.Wrap([this, name](StatusOr<Json> answer) { OnWritten(name, answer); }));
}

void QuotaEvaluator::OnWritten(const std::string& name, const StatusOr<Json>& answer) {
  Account& account = *accounts_[name];
  if (answer.ok()) {
    // Also for those that have waited too long: they are counted now.
    for (const WaitingPtr& each : account.charged) Assume(name, *each);
    auto quota = kube::Decode<api::ElasticQuota>(*answer);
    if (quota.ok()) account.written = std::make_shared<const api::ElasticQuota>(*std::move(quota));
    return FinishBatch(name, absl::OkStatus());
  }
  if (account.attempts_left-- <= 0) return FinishBatch(name, answer.status());
  // Between half of the jitter and all of it, as long as the total allows.
  Duration pause{0};
  if (options_.retry_jitter > Duration::zero()) {
    const auto half = options_.retry_jitter / 2;
    pause = half + std::chrono::duration_cast<Duration>(half * random_.Fraction());
    pause = std::min(pause, options_.max_total_jitter - account.jittered);
    account.jittered += pause;
  }
  if (pause <= Duration::zero()) return Retry(name);
  account.pause.Set(pause, [this, name] { Retry(name); });
}

// The copy may be behind, so the server itself is asked.
void QuotaEvaluator::Retry(const std::string& name) {
  const StatusOr<QuotaPtr> known = Current(name);
  if (!known.ok()) return FinishBatch(name, known.status());
  client_.Get(api::kElasticQuotas, kube::KeyOf((*known)->metadata),
              scope_.Wrap([this, name](StatusOr<Json> answer) {
                if (!answer.ok()) return FinishBatch(name, answer.status());
                auto quota = kube::Decode<api::ElasticQuota>(*answer);
                if (!quota.ok()) return FinishBatch(name, quota.status());
                Judge(name, std::make_shared<const api::ElasticQuota>(*std::move(quota)));
              }));
}

void QuotaEvaluator::FinishBatch(const std::string& name, const Status& status) {
  Account& account = *accounts_[name];
  for (const WaitingPtr& each : std::exchange(account.batch, {})) each->Finish(status);
  account.charged.clear();
  StartBatch(name);
}

}  // namespace koord::manager
