#include "scheduler/plugins/elastic_quota/quota_waiters.h"

#include <algorithm>
#include <utility>

namespace koord::scheduler {
namespace {

// Pods that were woken first may fail for other reasons: then there is room for those after them.
constexpr Duration kLookAgain = 1s;

bool SameCharge(const model::QuotaCharge& a, const model::QuotaCharge& b) {
  return a.non_preemptible == b.non_preemptible && a.amounts == b.amounts;
}

}  // namespace

QuotaWaiters::QuotaWaiters(const PluginContext& context, const model::AdmissionRules& rules)
    : context_(context), book_(context.books.quotas), rules_(rules), look_again_(context.loop) {
  book_.OnChange(scope_.Wrap([this] { LookSoon(); }));
  if (context.pending != nullptr) context.pending->AddListener(*this);
}

void QuotaWaiters::Add(const PodPtr& pod) {
  const std::string& uid = pod->metadata.uid;
  Remove(uid);
  RegroupIfMoved();
  Waiter& waiter = waiters_[uid];
  waiter.pod = pod;
  waiter.number = next_number_++;
  Enter(uid, waiter);
  // Between its refusal and now others may have been asked about it, for a while.
  const model::Quota* quota = waiter.quota;
  if (quota == nullptr ||
      !model::CheckAdmission(book_.tree(), *quota, book_.ChargeOf(*pod, *quota), rules_)) {
    LookSoon();
  }
}

void QuotaWaiters::Enter(const std::string& uid, Waiter& waiter) {
  const kube::Pod& pod = *waiter.pod;
  waiter.quota = book_.QuotaOf(pod);
  waiter.order = {-int64_t{pod.spec.priority.value_or(0)}, waiter.number, uid};
  if (waiter.quota == nullptr) return;
  model::QuotaCharge charge = book_.ChargeOf(pod, *waiter.quota);
  std::vector<Class>& classes = groups_[waiter.quota].classes;
  auto at = std::ranges::find_if(
      classes, [&](const Class& each) { return SameCharge(each.charge, charge); });
  if (at == classes.end()) at = classes.insert(at, {.charge = std::move(charge), .pods = {}});
  at->pods.insert(waiter.order);
}

void QuotaWaiters::Leave(const Waiter& waiter) {
  const auto group = groups_.find(waiter.quota);
  if (group == groups_.end()) return;
  std::vector<Class>& classes = group->second.classes;
  for (Class& each : classes) each.pods.erase(waiter.order);
  std::erase_if(classes, [](const Class& each) { return each.pods.empty(); });
  if (classes.empty()) groups_.erase(group);
}

void QuotaWaiters::Remove(std::string_view uid) {
  const auto at = waiters_.find(uid);
  if (at == waiters_.end()) return;
  Leave(at->second);
  waiters_.erase(at);
}

void QuotaWaiters::OnPodPending(const PodPtr& before, const PodPtr& after) {
  if (before == nullptr) return;
  const auto at = waiters_.find(after->metadata.uid);
  if (at == waiters_.end()) return;
  Leave(at->second);
  at->second.pod = after;
  Enter(at->first, at->second);
}

void QuotaWaiters::OnPodBound(const PodPtr&, const PodPtr& after) { Remove(after->metadata.uid); }

// Quotas came or went: others may be charged now.
void QuotaWaiters::RegroupIfMoved() {
  if (structure_ == book_.structure()) return;
  structure_ = book_.structure();
  groups_.clear();
  for (auto& [uid, waiter] : waiters_) Enter(uid, waiter);
}

void QuotaWaiters::LookSoon() {
  if (is_posted_ || waiters_.empty()) return;
  is_posted_ = true;
  context_.loop.Post(scope_.Wrap([this] { Look(); }));
}

void QuotaWaiters::Look() {
  is_posted_ = false;
  if (context_.handle == nullptr) return;
  RegroupIfMoved();
  std::vector<std::string> woken;
  bool others_wait = false;
  for (auto& [quota, group] : groups_) others_wait |= TakeFrom(*quota, group, woken);
  for (const auto& [uid, waiter] : waiters_) {
    if (waiter.quota == nullptr) woken.push_back(uid);  // nothing limits it any more
  }
  if (others_wait) look_again_.Set(kLookAgain, [this] { LookSoon(); });
  if (woken.empty()) return;
  std::vector<std::pair<Order, kube::ObjectKey>> pods;
  for (const std::string& uid : woken) {
    const Waiter& waiter = waiters_.find(uid)->second;
    pods.emplace_back(waiter.order, KeyOf(waiter.pod->metadata));
    Remove(uid);
  }
  // Quotas stand in no order.
  std::ranges::sort(pods, {}, [](const auto& pod) -> const Order& { return pod.first; });
  std::vector<kube::ObjectKey> keys;
  for (auto& [order, key] : pods) keys.push_back(std::move(key));
  context_.handle->Activate(keys);
}

bool QuotaWaiters::TakeFrom(const model::Quota& quota, Group& group,
                            std::vector<std::string>& woken) {
  struct Next {
    const Class* of;
    std::set<Order>::const_iterator at;
  };
  std::vector<Next> next;
  for (const Class& each : group.classes) next.push_back({&each, each.pods.begin()});
  model::QuotaUse taken;
  bool others_wait = false;
  while (!next.empty()) {
    const auto first =
        std::ranges::min_element(next, [](const Next& a, const Next& b) { return *a.at < *b.at; });
    const model::QuotaCharge& charge = first->of->charge;
    const auto shortfall = model::CheckAdmission(book_.tree(), quota, charge, rules_, taken);
    // A quota without parent is an error, and errors are tried again anyway.
    if (shortfall) {
      others_wait |= !taken.amounts.empty();
      next.erase(first);
      continue;
    }
    model::AddTo(taken.amounts, charge.amounts);
    if (charge.non_preemptible) model::AddTo(taken.non_preemptible, charge.amounts);
    woken.push_back(std::get<2>(*first->at));
    if (++first->at == first->of->pods.end()) next.erase(first);
  }
  return others_wait;
}

}  // namespace koord::scheduler
