#include "localcluster/apiserver/write/resource_quotas.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "kube/resources.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/quota/quota_scopes.h"
#include "localcluster/apiserver/quota/quota_usage.h"
#include "localcluster/apiserver/write/bootstrap.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {
namespace {

using kube::Json;
using kube::Quantity;
using kube::ResourceList;

const kube::Resource kResourceQuotas{"", "v1", "resourcequotas", "ResourceQuota"};
constexpr Duration kPublishAgain = std::chrono::seconds(1);

// Those of `amounts` that the quota bounds.
ResourceList Masked(const ResourceList& amounts, const ResourceList& hard) {
  ResourceList masked;
  for (const auto& [name, amount] : amounts) {
    if (hard.contains(name)) masked.emplace(name, amount);
  }
  return masked;
}

// "cpu=2,memory=1Gi", of the names given.
std::string Spelt(const ResourceList& amounts, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    parts.push_back(name + "=" + kube::AmountOf(amounts, name).ToString());
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string NamespaceOf(const std::string& key) {
  const size_t slash = key.find('/');
  return slash == std::string::npos ? "" : key.substr(0, slash);
}

std::string ChargeKey(const std::string& stored_as, const std::string& key) {
  return stored_as + " " + key;
}

// Of most objects there is just the number, which an update does not change.
bool IsBounded(std::string_view resource, const Json* old) {
  return old == nullptr || HasAmounts(resource);
}

}  // namespace

ResourceQuotas::ResourceQuotas(Core& core) : core_(core) {
  const auto add = [this](const EntryPtr& entry) {
    OnQuota(NamespaceOf(entry->key), entry);
    return true;
  };
  core_.store.Range(kResourceQuotas.qualified(), "", "", 0, add).IgnoreError();
  core_.ObserveAll([this](const std::string& stored_as, const EntryPtr& before,
                          const EntryPtr& after) { OnWritten(stored_as, before, after); });
}

// --- decisions

ResourceList ResourceQuotas::Requested(const ResourceInfo& info, const Json& object,
                                       const Json* old) const {
  const std::string resource = info.stored_as();
  ResourceList requested = QuotaUsage(resource, object, core_.now());
  if (old == nullptr) return requested;
  kube::SubtractFrom(requested, QuotaUsage(resource, *old, core_.now()));
  std::erase_if(requested, [](const auto& entry) { return entry.second.Sign() <= 0; });
  return requested;
}

Status ResourceQuotas::Check(const ResourceInfo& info, std::string_view ns, const Json& object,
                             const Json* old) const {
  const auto in_namespace = quotas_.find(ns);
  const std::string resource = info.stored_as();
  if (in_namespace == quotas_.end() || !IsBounded(resource, old)) return absl::OkStatus();
  std::vector<const Quota*> concerned;
  for (const auto& [name, quota] : in_namespace->second) {
    const bool counts = quota.resources.contains(resource);
    if (counts && InScope(quota.scopes, resource, object)) concerned.push_back(&quota);
  }
  if (concerned.empty()) return absl::OkStatus();
  const auto refuse = [&](const std::string& why) {
    return ForbiddenObject(info.resource, kube::FindString(object, {"metadata", "name"}), why);
  };
  if (resource == "pods") {
    const auto pod = kube::Decode<kube::Pod>(object);
    if (!pod.ok()) return pod.status();
    for (const Quota* quota : concerned) {
      if (const auto missing = MissingRequests(*pod, quota->spec.hard)) {
        return refuse(fmt::format("failed quota: {}: must specify {}", quota->name, *missing));
      }
    }
  }
  const ResourceList requested = Requested(info, object, old);
  for (const Quota* quota : concerned) {
    const ResourceList used = UsedOf(ns, *quota);
    std::vector<std::string> exceeded;
    for (const auto& [name, amount] : Masked(requested, quota->spec.hard)) {
      const Quantity sum = kube::AmountOf(used, name) + amount;
      if (sum > quota->spec.hard.at(name)) exceeded.push_back(name);
    }
    if (exceeded.empty()) continue;
    return refuse(fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}",
                              quota->name, Spelt(requested, exceeded), Spelt(used, exceeded),
                              Spelt(quota->spec.hard, exceeded)));
  }
  return absl::OkStatus();
}

// --- accounts

ResourceList ResourceQuotas::UsedOf(std::string_view ns, const Quota& quota) const {
  ResourceList used;
  for (const auto& [name, limit] : quota.spec.hard) {
    const auto resource = CountedBy(name);
    if (!resource) continue;  // nobody can tell
    if (HasAmounts(*resource)) {
      used[name] = kube::AmountOf(quota.charged, name);
    } else {
      const size_t count =
          quota.scopes.empty() ? core_.store.Count(*resource, std::string(ns) + "/") : 0;
      used[name] = Quantity(static_cast<int64_t>(count));
    }
  }
  return used;
}

void ResourceQuotas::OnWritten(const std::string& stored_as, const EntryPtr& before,
                               const EntryPtr& after) {
  if (quotas_.empty() && stored_as != kResourceQuotas.qualified()) return;
  const std::string& key = (after != nullptr ? after : before)->key;
  const std::string ns = NamespaceOf(key);
  if (ns.empty()) return;
  if (stored_as == kResourceQuotas.qualified()) {
    if (after != nullptr) {
      OnQuota(ns, after);
    } else if (const auto found = quotas_.find(ns); found != quotas_.end()) {
      found->second.erase(key.substr(ns.size() + 1));
      if (found->second.empty()) quotas_.erase(found);
    }
  }
  const auto in_namespace = quotas_.find(ns);
  if (in_namespace == quotas_.end()) return;
  for (auto& [name, quota] : in_namespace->second) {
    if (!quota.resources.contains(stored_as)) continue;
    if (HasAmounts(stored_as)) {
      Charge(ns, quota, stored_as, key, after.get());
    } else if (before == nullptr || after == nullptr) {
      Publish(ns, name);
    }
  }
}

void ResourceQuotas::OnQuota(const std::string& ns, const EntryPtr& after) {
  const auto json = kube::ParseJson(after->value);
  if (!json.ok()) return;
  const auto object = kube::Decode<kube::ResourceQuota>(*json);
  if (!object.ok()) return;
  const std::string name = after->key.substr(ns.size() + 1);
  Quota& quota = quotas_[ns][name];
  if (quota.name.empty() || !(quota.spec == object->spec)) {
    quota = Quota{.name = name, .spec = object->spec, .scopes = ScopesOf(object->spec)};
    for (const auto& [counted, limit] : quota.spec.hard) {
      if (auto resource = CountedBy(counted)) quota.resources.insert(*std::move(resource));
    }
    Recount(ns, quota);
  }
  const kube::ResourceQuotaStatus status{.hard = quota.spec.hard, .used = UsedOf(ns, quota)};
  if (!(object->status == status)) Publish(ns, name);
}

void ResourceQuotas::Recount(const std::string& ns, Quota& quota) {
  for (const std::string& resource : quota.resources) {
    if (!HasAmounts(resource)) continue;
    const auto add = [&](const EntryPtr& entry) {
      Charge(ns, quota, resource, entry->key, entry.get());
      return true;
    };
    core_.store.Range(resource, ns + "/", "", 0, add).IgnoreError();
  }
}

void ResourceQuotas::Charge(const std::string& ns, Quota& quota, const std::string& stored_as,
                            const std::string& key, const Entry* entry) {
  ResourceList now;
  if (entry != nullptr) {
    const auto object = kube::ParseJson(entry->value);
    if (object.ok() && InScope(quota.scopes, stored_as, *object)) {
      now = Masked(QuotaUsage(stored_as, *object, core_.now()), quota.spec.hard);
      ReviewLater(stored_as, key, *object);
    }
  }
  const std::string charge_key = ChargeKey(stored_as, key);
  ResourceList& charge = quota.charges[charge_key];
  if (charge != now) {
    kube::SubtractFrom(quota.charged, charge);
    kube::AddTo(quota.charged, now);
    charge = now;
    Publish(ns, quota.name);
  }
  if (charge.empty()) quota.charges.erase(charge_key);
}

void ResourceQuotas::ReviewLater(const std::string& stored_as, const std::string& key,
                                 const Json& object) {
  if (stored_as != "pods") return;
  const auto stops = StopsToCount(object);
  if (!stops || *stops <= core_.now()) return;
  core_.After(*stops - core_.now(), [this, stored_as, key] {
    const EntryPtr entry = core_.store.Get(stored_as, key);
    if (entry != nullptr) OnWritten(stored_as, entry, entry);
  });
}

// --- status

void ResourceQuotas::KeepStatus(Writer& writer) {
  writer_ = &writer;
  PublishAll();
}

void ResourceQuotas::Publish(const std::string& ns, const std::string& name) {
  unpublished_.emplace(ns, name);
  if (publishing_ || writer_ == nullptr) return;
  publishing_ = true;
  core_.Post([this] { PublishAll(); });
}

void ResourceQuotas::PublishAll() {
  publishing_ = false;
  for (const auto& [ns, name] : std::exchange(unpublished_, {})) {
    WriteIntent intent;
    intent.info = core_.registry.Find("", "v1", kResourceQuotas.resource);
    intent.ns = ns;
    intent.name = name;
    intent.subresource = "status";
    intent.user = ServerUser();
    const auto update = [this, ns = ns, name = name](const Json& current) -> StatusOr<Json> {
      const auto in_namespace = quotas_.find(ns);
      if (in_namespace == quotas_.end()) return current;
      const auto quota = in_namespace->second.find(name);
      if (quota == in_namespace->second.end()) return current;
      Json changed = current;
      kube::At(changed, {"status"}) = kube::Encode(kube::ResourceQuotaStatus{
          .hard = quota->second.spec.hard, .used = UsedOf(ns, quota->second)});
      return changed;
    };
    writer_->Update(std::move(intent), update,
                    [this, ns = ns, name = name](const StatusOr<Written>& written) {
                      if (written.ok() || kube::IsNotFound(written.status())) return;
                      LOG_WARNING("Could not write the status of a quota",
                                  {"quota", ns + "/" + name}, {"err", written.status()});
                      core_.After(kPublishAgain, [this, ns, name] { Publish(ns, name); });
                    });
  }
}

}  // namespace koord::apiserver
