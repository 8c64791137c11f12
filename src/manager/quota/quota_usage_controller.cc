#include "manager/quota/quota_usage_controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/controller/indexes.h"

namespace koord::manager {
namespace {

using kube::Json;
using kube::Quantity;
using kube::ResourceList;

constexpr char kUsageByQuota[] = "usage-quota";
constexpr char kUsageByName[] = "usage-name";
// Pods come and go in numbers: one write is for all of them.
constexpr Duration kGather = std::chrono::seconds(1);

std::set<std::string> NamesOf(const ResourceList& a, const ResourceList& b) {
  std::set<std::string> names;
  for (const ResourceList* list : {&a, &b}) {
    for (const auto& [name, amount] : *list) names.insert(name);
  }
  return names;
}

bool SameAmounts(const ResourceList& a, const ResourceList& b) {
  return std::ranges::all_of(NamesOf(a, b), [&](const std::string& name) {
    return kube::AmountOf(a, name) == kube::AmountOf(b, name);
  });
}

}  // namespace

QuotaUsageController::QuotaUsageController(const Inputs& inputs, Options options)
    : Controller("quotausage", inputs.parts, {.concurrency = 1, .by_leadership = true}),
      inputs_(inputs),
      options_(options),
      topology_(clock(), {}) {
  inputs_.quotas.AddIndex(kUsageByName, [](const api::ElasticQuota& quota) {
    return std::vector{quota.metadata.name};
  });
  Watch(inputs_.quotas, [this](const QuotaPtr& before, const QuotaPtr& after) {
    after != nullptr ? topology_.Set(*after) : topology_.Remove(before->metadata.name);
    EnqueueSoon((after != nullptr ? after : before)->metadata.name);
  });
  FollowPods();
}

void QuotaUsageController::FollowPods() {
  inputs_.pods.AddIndex(kUsageByQuota, [](const kube::Pod& pod) {
    const std::string_view name = kube::ValueOf(pod.metadata.labels, api::kLabelQuotaName);
    return name.empty() ? std::vector<std::string>() : std::vector{std::string(name)};
  });
  IndexByNamespace(inputs_.pods);
  Watch(inputs_.pods, [this](const auto& before, const auto& after) {
    for (const auto& pod : {before, after}) {
      if (pod == nullptr) continue;
      EnqueueSoon(topology_.QuotaOf(pod->metadata.labels, pod->metadata.ns, options_.no_default));
    }
  });
}

void QuotaUsageController::Start() {
  accounts_.clear();
  Controller::Start();
}

std::vector<std::string> QuotaUsageController::AllKeys() const {
  std::vector<std::string> names;
  for (const QuotaPtr& quota : inputs_.quotas.List()) names.push_back(quota->metadata.name);
  return names;
}

void QuotaUsageController::EnqueueSoon(const std::string& quota) {
  if (!quota.empty()) EnqueueAfter(quota, kGather);
}

QuotaUsageController::QuotaPtr QuotaUsageController::QuotaOf(const std::string& name) const {
  const bool is_built_in =
      name == api::kDefaultQuota || name == api::kSystemQuota || name == api::kRootQuota;
  if (is_built_in) return nullptr;
  const auto found = inputs_.quotas.ByIndex(kUsageByName, name);
  return found.size() == 1 && IsEvaluated(*found[0]) ? found[0] : nullptr;
}

QuotaUsageController::Charges QuotaUsageController::ChargesOf(
    const api::ElasticQuota& quota) const {
  const std::string& name = quota.metadata.name;
  const WallTime now = Now();
  Charges charges;
  const auto add = [&](const kube::Pod& pod) {
    kube::Pod counted = pod;
    if (options_.replace_resources) ReplaceResources(counted);
    ResourceList charge = ChargeOf(counted, quota, now);
    if (!charge.empty()) charges.emplace(pod.metadata.uid, std::move(charge));
  };
  for (const auto& pod : inputs_.pods.ByIndex(kUsageByQuota, name)) add(*pod);
  std::vector<std::string> namespaces = api::NamespacesOf(quota);
  namespaces.push_back(quota.metadata.ns);
  for (const std::string& ns : namespaces) {
    if (topology_.QuotaOf({}, ns, options_.no_default) != name) continue;
    for (const auto& pod : inputs_.pods.ByIndex(kube::kByNamespace, ns)) {
      if (kube::ValueOf(pod->metadata.labels, api::kLabelQuotaName).empty()) add(*pod);
    }
  }
  return charges;
}

void QuotaUsageController::Settle(Account& account, Charges now) {
  for (auto& [uid, charge] : account.pods) {
    if (const auto still = now.find(uid); still != now.end()) {
      kube::SubtractFrom(charge, still->second);
    }
    std::erase_if(charge, [](const auto& entry) { return entry.second.Sign() <= 0; });
    kube::AddTo(account.owed, charge);
  }
  account.pods = std::move(now);
}

ResourceList QuotaUsageController::WantedOf(const ResourceList& used, Account& account) {
  ResourceList exist;
  for (const auto& [uid, charge] : account.pods) kube::AddTo(exist, charge);
  ResourceList wanted;
  for (const std::string& name : NamesOf(used, exist)) {
    const Quantity needed = kube::AmountOf(exist, name);
    Quantity amount = kube::AmountOf(used, name) - kube::AmountOf(account.owed, name);
    const Quantity excess = amount > needed ? amount - needed : Quantity();
    amount = std::max(amount, needed);
    const auto floor = account.floor.find(name);
    if (account.is_new) {
      account.floor[name] = excess;
    } else if (floor == account.floor.end()) {
      account.floor[name] = Quantity();  // there was none of it before
    } else {
      floor->second = std::min(floor->second, excess);
    }
    if (account.is_over) amount -= account.floor[name];
    wanted.emplace(name, std::move(amount));
  }
  account.is_new = false;
  return wanted;
}

kube::Plan QuotaUsageController::Decide(const std::string& name) {
  kube::Plan plan;
  const QuotaPtr quota = QuotaOf(name);
  if (quota == nullptr) {
    accounts_.erase(name);
    return plan;
  }
  const SteadyTime now = clock().Steady();
  Account& account = accounts_[name];
  if (account.is_new) account.since = now;
  Settle(account, ChargesOf(*quota));
  const auto used = api::QuotaAmounts(*quota, api::kAnnotationQuotaChildRequest);
  if (!used.ok()) {
    LOG_WARNING("What a quota is charged cannot be read and is counted anew", {"quota", name},
                {"err", used.status()});
  }
  account.is_over = now - account.since >= kPatience;
  const ResourceList wanted = WantedOf(used.value_or(ResourceList()), account);
  // Some excess may turn out to be nobody's, and pods that are being deleted end by themselves.
  if (!account.pods.empty() || !kube::IsZero(wanted)) plan.again = kPatience;
  if (used.ok() && SameAmounts(*used, wanted)) {
    OnSettled(name);
  } else {
    plan.Add(
        PinnedPatch(api::kElasticQuotas, quota->metadata,
                    {{"metadata",
                      {{"annotations",
                        {{api::kAnnotationQuotaChildRequest, api::EncodeAnnotation(wanted)}}}}}}));
  }
  return plan;
}

void QuotaUsageController::OnWritten(const std::string& name, const kube::Write&,
                                     const Json& answer) {
  if (!answer.is_null()) OnSettled(name);
}

void QuotaUsageController::OnRefused(const std::string& name, const kube::Write&,
                                     const Status& status) {
  if (kube::IsConflict(status)) return;
  LOG_WARNING("Could not write what a quota is charged", {"quota", name}, {"err", status});
}

void QuotaUsageController::OnSettled(const std::string& name) {
  Account& account = accounts_[name];
  account.owed.clear();
  if (account.is_over) account.is_new = true;
}

}  // namespace koord::manager
