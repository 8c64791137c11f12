#include "manager/quota/quota_topology.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/keys.h"
#include "base/strings.h"

namespace koord::manager {
namespace {

using kube::ResourceList;
namespace json = kube::json;

bool SameKeys(const ResourceList& a, const ResourceList& b) {
  return std::ranges::equal(
      a, b, {}, [](const auto& entry) { return entry.first; },
      [](const auto& entry) { return entry.first; });
}

bool KeysAmong(const ResourceList& some, const ResourceList& all) {
  return std::ranges::all_of(some, [&](const auto& entry) { return all.contains(entry.first); });
}

// "p1, p2, ..."
std::string SomeNames(const std::vector<kube::ObjectKey>& pods) {
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min<size_t>(2, pods.size()); ++i) shown.push_back(pods[i].name);
  if (pods.size() > 2) shown.push_back("...");
  return Join(shown, ", ");
}

bool HasPods(const QuotaInfo& quota, const QuotaPods& pods) {
  if (!pods.of_quota(quota.name).empty() || pods.in_namespace(quota.name)) return true;
  return std::ranges::any_of(quota.namespaces, pods.in_namespace);
}

bool SamePlace(const api::ElasticQuota& a, const api::ElasticQuota& b) {
  for (const std::string_view label :
       {api::kLabelQuotaParent, api::kLabelQuotaIsParent, api::kLabelQuotaTreeId}) {
    if (kube::ValueOf(a.metadata.labels, label) != kube::ValueOf(b.metadata.labels, label)) {
      return false;
    }
  }
  return a.spec == b.spec &&
         kube::ValueOf(a.metadata.annotations, api::kAnnotationQuotaNamespaces) ==
             kube::ValueOf(b.metadata.annotations, api::kAnnotationQuotaNamespaces);
}

}  // namespace

void QuotaTopology::Set(const api::ElasticQuota& quota) {
  QuotaInfo info = model::InfoOf(quota);
  const std::string name = info.name;
  // Something older may still be on its way: what was admitted counts until it shows.
  const auto expected = expected_.find(name);
  if (expected != expected_.end() && expected->second.info == info) expected_.erase(expected);
  confirmed_.insert_or_assign(name, std::move(info));
  Rebuild(name);
}

void QuotaTopology::Remove(const std::string& name) {
  const auto expected = expected_.find(name);
  if (expected != expected_.end() && !expected->second.info) expected_.erase(expected);
  confirmed_.erase(name);
  Rebuild(name);
}

void QuotaTopology::Expect(const std::string& name, std::optional<QuotaInfo> info) {
  if (expected_.size() >= kMostExpected && !expected_.contains(name)) return;
  expected_.insert_or_assign(name, Expected{std::move(info), clock_.Steady() + kPatience});
  Rebuild(name);
}

void QuotaTopology::Expire() const {
  const SteadyTime now = clock_.Steady();
  std::vector<std::string> gone;
  for (const auto& [name, expected] : expected_) {
    if (expected.until <= now) gone.push_back(name);
  }
  for (const std::string& name : gone) {
    expected_.erase(name);
    Rebuild(name);
  }
}

void QuotaTopology::Rebuild(const std::string& name) const {
  const auto expected = expected_.find(name);
  const auto confirmed = confirmed_.find(name);
  if (expected != expected_.end() && expected->second.info) {
    index_.Set(*expected->second.info);
  } else if (expected == expected_.end() && confirmed != confirmed_.end()) {
    index_.Set(confirmed->second);
  } else {
    index_.Remove(name);
  }
}

const QuotaInfo* QuotaTopology::Find(std::string_view name) const {
  Expire();
  return index_.Find(name);
}

std::string_view QuotaTopology::OfNamespace(std::string_view ns) const {
  Expire();
  return index_.OfNamespace(ns);
}

std::string QuotaTopology::QuotaOf(const kube::Labels& pod_labels, std::string_view ns,
                                   bool no_default) const {
  Expire();
  return std::string(
      index_.NameFor(kube::ValueOf(pod_labels, api::kLabelQuotaName), ns, no_default));
}

// Which other quota has one of this one's namespaces; "" if none has.
std::string_view QuotaTopology::BoundElsewhere(const QuotaInfo& info, std::string_view& ns) const {
  for (const std::string& each : info.namespaces) {
    const std::string_view bound = index_.OfNamespace(each);
    if (bound.empty() || bound == info.name) continue;
    ns = each;
    return bound;
  }
  return "";
}

Status QuotaTopology::Create(const api::ElasticQuota& quota, bool remember) {
  QuotaInfo info = model::InfoOf(quota);
  if (Find(info.name) != nullptr) {
    return InvalidArgument("AddQuota quota already exist:{}", info.name);
  }
  std::string_view ns;
  if (const std::string_view other = BoundElsewhere(info, ns); !other.empty()) {
    return InvalidArgument(
        "AddQuota quota {}'s annotation namespace {} is already bound to quota {}", info.name, ns,
        other);
  }
  RETURN_IF_ERROR(model::CheckQuota(quota));
  RETURN_IF_ERROR(CheckPlace(info, nullptr, {}));
  if (remember) Expect(info.name, info);
  return absl::OkStatus();
}

Status QuotaTopology::Update(const api::ElasticQuota& before, const api::ElasticQuota& after,
                             const QuotaPods& pods, bool remember) {
  if (SamePlace(before, after)) return absl::OkStatus();
  QuotaInfo info = model::InfoOf(after);
  if (info.name == api::kRootQuota || info.name == api::kSystemQuota) {
    return InvalidArgument("invalid quota {}", info.name);
  }
  const QuotaInfo* known = Find(info.name);
  std::string_view ns;
  if (const std::string_view other = BoundElsewhere(info, ns); !other.empty()) {
    return InvalidArgument(
        "UpdadteQuota, quota {} update namespaces, but namespace {} is already bound to quota {}",
        info.name, ns, other);
  }
  if (known == nullptr) {
    return InvalidArgument("UpdateQuota quota not exist in quotaInfoMap:{}", info.name);
  }
  RETURN_IF_ERROR(model::CheckQuota(after));
  RETURN_IF_ERROR(CheckPlace(info, known, pods));
  if (remember) Expect(info.name, info);
  return absl::OkStatus();
}

Status QuotaTopology::Delete(const std::string& name, const QuotaPods& pods, bool remember) {
  if (model::IsBuiltInQuota(name)) return InvalidArgument("can not delete quotaGroup :{}", name);
  const QuotaInfo* info = Find(name);
  if (info == nullptr) return InvalidArgument("not found quota:{}", name);
  RETURN_IF_ERROR(CheckUnused(*info, pods, ""));
  if (remember) Expect(name, std::nullopt);
  return absl::OkStatus();
}

Status QuotaTopology::DeleteWithNamespace(const kube::ObjectKey& quota, const QuotaPods& pods,
                                          bool remember) {
  const QuotaInfo* info = Find(quota.name);
  if (info == nullptr || info->ns != quota.ns) return absl::OkStatus();
  RETURN_IF_ERROR(CheckUnused(*info, pods, quota.ns));
  if (remember) Expect(quota.name, std::nullopt);
  return absl::OkStatus();
}

// Whether neither quotas nor pods depend on it, but for those in one namespace.
Status QuotaTopology::CheckUnused(const QuotaInfo& info, const QuotaPods& pods,
                                  std::string_view except_in) const {
  const auto is_exempt = [&](const std::string& ns) { return !ns.empty() && ns == except_in; };
  std::vector<const QuotaInfo*> children = index_.ChildrenOf(info.name);
  std::erase_if(children, [&](const QuotaInfo* child) { return is_exempt(child->ns); });
  if (!children.empty()) {
    return InvalidArgument("delete quota failed, quota {} has {} child quotas", info.name,
                           children.size());
  }
  std::vector<kube::ObjectKey> users = pods.of_quota(info.name);
  std::erase_if(users, [&](const kube::ObjectKey& pod) { return is_exempt(pod.ns); });
  if (users.empty()) return absl::OkStatus();
  return InvalidArgument("delete quota failed, quota {} has {} child pods: {}", info.name,
                         users.size(), SomeNames(users));
}

Status QuotaTopology::CheckPlace(const QuotaInfo& info, const QuotaInfo* before,
                                 const QuotaPods& pods) const {
  if (info.name == api::kRootQuota) return absl::OkStatus();
  RETURN_IF_ERROR(CheckAcyclic(info));
  if (before != nullptr) RETURN_IF_ERROR(CheckIsParent(info, *before, pods));
  RETURN_IF_ERROR(CheckTreeId(info, before));
  const bool under_root = info.parent == api::kRootQuota;
  if (under_root && !info.is_parent) return absl::OkStatus();
  const QuotaInfo* parent = under_root ? nullptr : Find(info.parent);
  if (!under_root && parent == nullptr) {
    return InvalidArgument("{} has parentName {} but not find parentInfo in quotaInfoMap",
                           info.name, info.parent);
  }
  if (parent != nullptr && !parent->is_parent) {
    return InvalidArgument("{} has parentName {} but the parentQuotaInfo's IsParent is false",
                           info.name, info.parent);
  }
  RETURN_IF_ERROR(CheckKeys(info, parent));
  if (!info.force_update && !info.is_tree_root) RETURN_IF_ERROR(CheckMinSums(info, parent));
  return rules_.guarantee_usage ? CheckGuarantee(info) : absl::OkStatus();
}

// Whoever sums up quotas follows parents to the root: that must end.
Status QuotaTopology::CheckAcyclic(const QuotaInfo& info) const {
  if (info.parent == info.name) {
    return InvalidArgument("quota {} cannot be its own parent", info.name);
  }
  std::vector<std::string_view> way{info.parent};  // upwards
  // Others may form a ring since before anybody looked: no way up is longer than all of them.
  while (way.back() != api::kRootQuota && way.size() <= index_.size()) {
    const QuotaInfo* above = Find(way.back());
    if (above == nullptr) return absl::OkStatus();
    way.push_back(above->parent);
    if (above->parent != info.name) continue;
    return InvalidArgument("quota {} cannot have parent {}, which is below it: {}", info.name,
                           info.parent, Join(way, " is below "));
  }
  if (way.back() == api::kRootQuota) return absl::OkStatus();
  return InvalidArgument("quota {} cannot have parent {}: following its parents never ends",
                         info.name, info.parent);
}

Status QuotaTopology::CheckIsParent(const QuotaInfo& info, const QuotaInfo& before,
                                    const QuotaPods& pods) const {
  if (info.is_parent == before.is_parent) return absl::OkStatus();
  if (!info.is_parent && !index_.ChildrenOf(info.name).empty()) {
    return InvalidArgument(
        "quota has children, isParent is forbidden to modify as false, quotaName:{}", info.name);
  }
  if (info.is_parent && HasPods(before, pods)) {
    return InvalidArgument(
        "quota has bound pods, isParent is forbidden to modify as true, quotaName: {}", info.name);
  }
  return absl::OkStatus();
}

Status QuotaTopology::CheckTreeId(const QuotaInfo& info, const QuotaInfo* before) const {
  if (before != nullptr && before->tree_id != info.tree_id) {
    return InvalidArgument("{} tree id changed [{}] vs [{}]", info.name, before->tree_id,
                           info.tree_id);
  }
  const QuotaInfo* parent = info.parent == api::kRootQuota ? nullptr : Find(info.parent);
  if (parent != nullptr && parent->tree_id != info.tree_id) {
    return InvalidArgument("{} tree id is different from parent {}, [{}] vs [{}]", info.name,
                           info.parent, info.tree_id, parent->tree_id);
  }
  for (const QuotaInfo* child : index_.ChildrenOf(info.name)) {
    if (child->tree_id == info.tree_id) continue;
    return InvalidArgument("{} tree id is different from child {}, [{}] vs [{}]", info.name,
                           child->name, info.tree_id, child->tree_id);
  }
  return absl::OkStatus();
}

Status QuotaTopology::CheckKeys(const QuotaInfo& info, const QuotaInfo* parent) const {
  const auto failed = [](const std::string& what) {
    return InvalidArgument(
        "failed to check sub and parent group quotaKey, err: checkSubAndParentGroupQuotaKey "
        "failed: {}",
        what);
  };
  // `first` is named first where the sets differ.
  const auto check = [&](const QuotaInfo& child, const QuotaInfo& above, const QuotaInfo& first,
                         const QuotaInfo& second) -> Status {
    if (rules_.update_resource_key) {
      if (!KeysAmong(child.max, above.max)) {
        return failed(
            fmt::format("{}'s max keys are not all included in {}'s", child.name, above.name));
      }
    } else if (!SameKeys(child.max, above.max)) {
      return failed(
          fmt::format("{}'s max keys are not the same with {}'s", first.name, second.name));
    }
    if (!KeysAmong(child.min, above.min)) {
      return failed(
          fmt::format("{}'s min keys are not all included in {}'s", child.name, above.name));
    }
    return absl::OkStatus();
  };
  if (parent != nullptr) RETURN_IF_ERROR(check(info, *parent, *parent, info));
  for (const QuotaInfo* child : index_.ChildrenOf(info.name)) {
    RETURN_IF_ERROR(check(*child, info, *child, info));
  }
  return absl::OkStatus();
}

Status QuotaTopology::CheckMinSums(const QuotaInfo& info, const QuotaInfo* parent) const {
  if (parent != nullptr) {
    ResourceList sum = info.min;
    for (const QuotaInfo* sibling : index_.ChildrenOf(info.parent)) {
      if (sibling->name != info.name) kube::AddTo(sum, sibling->min);
    }
    if (!kube::FitsIn(sum, parent->min)) {
      return InvalidArgument(
          "checkMinQuotaSum all brothers' MinQuota > parent MinQuota, parent: {}", parent->name);
    }
  }
  ResourceList sum;
  for (const QuotaInfo* child : index_.ChildrenOf(info.name)) kube::AddTo(sum, child->min);
  if (!kube::FitsIn(sum, info.min)) {
    return InvalidArgument(
        "checkMinQuotaSum all children's MinQuota > current MinQuota, current: {}", info.name);
  }
  return absl::OkStatus();
}

Status QuotaTopology::CheckGuarantee(const QuotaInfo& info) const {
  if (info.tree_id.empty() || info.force_update || info.is_tree_root) return absl::OkStatus();
  if (kube::FitsIn(info.min, info.guaranteed)) return absl::OkStatus();
  ResourceList need = info.min;
  kube::RaiseTo(need, info.guaranteed);
  const QuotaInfo* current = &info;
  // A tree cannot be deeper than there are quotas, unless labels form a ring.
  for (size_t level = 0; level <= index_.size(); ++level) {
    const QuotaInfo* parent = Find(current->parent);
    if (parent == nullptr || current->parent == api::kRootQuota) break;
    for (const QuotaInfo* child : index_.ChildrenOf(parent->name)) {
      if (child->name != current->name) kube::AddTo(need, child->guaranteed);
    }
    kube::RaiseTo(need, parent->min);
    if (kube::FitsIn(need, parent->guaranteed)) return absl::OkStatus();
    current = parent;
  }
  return InvalidArgument("tree root quota {} can't guarantee for min {}", current->name, info.name);
}

kube::Json QuotaTopology::ToJson() const {
  Expire();
  json::object infos, hierarchy;
  for (const auto& [name, info] : index_.all()) {
    infos[name] = {{"name", info.name},
                   {"parentName", info.parent},
                   {"isParent", info.is_parent},
                   {"allowLentResource", info.allow_lent},
                   {"max", kube::Encode(info.max)},
                   {"min", kube::Encode(info.min)}};
    hierarchy[name] = json::array();
  }
  for (const auto& [name, children] : index_.children()) {
    hierarchy[name] = json::array(children.begin(), children.end());
  }
  return {{"quotaInfoMap", std::move(infos)}, {"quotaHierarchyInfo", std::move(hierarchy)}};
}

}  // namespace koord::manager
