#include "model/quota/quota_tree.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <set>
#include <utility>

namespace koord::model {
namespace {

void DropNegative(QuotaAmounts& amounts) {
  for (QuotaAmount& each : amounts) each.value = std::max<Wide>(0, each.value);
}

void DropZeros(QuotaAmounts& amounts) {
  const auto end = std::remove_if(amounts.begin(), amounts.end(),
                                  [](const QuotaAmount& each) { return each.value == 0; });
  amounts.erase(end, amounts.end());
}

// The default and the system quota take no part in sharing.
bool IsShared(const Quota& quota) { return !IsBuiltInQuota(quota.name()); }

// By how much an amount has changed.
QuotaAmounts Difference(QuotaAmounts now, const QuotaAmounts& before) {
  AddTo(now, before, -1);
  DropZeros(now);
  return now;
}

QuotaAmounts GuaranteedOf(const Quota& quota) {
  QuotaAmounts guaranteed = quota.allocated;
  RaiseTo(guaranteed, quota.min);
  return guaranteed;
}

}  // namespace

QuotaAmounts Quota::Request() const {
  QuotaAmounts request = child_request;
  if (!lends && !is_root) RaiseTo(request, min);
  return request;
}

QuotaTree::QuotaTree(QuotaTreeOptions options) : options_(options) {
  for (const std::string_view name : {api::kDefaultQuota, api::kSystemQuota}) {
    QuotaInfo info;
    info.name = name;
    info.parent = api::kRootQuota;
    Set(std::move(info));
  }
}

// ---- Quotas

void QuotaTree::Set(QuotaInfo info) {
  if (info.name == api::kRootQuota) return;
  ++version_;
  is_settled_ = false;
  index_.Set(info);
  std::unique_ptr<Quota>& slot = quotas_[info.name];
  if (slot == nullptr) slot = std::make_unique<Quota>();
  slot->info = std::move(info);
  Compile(*slot);
}

void QuotaTree::Compile(Quota& quota) {
  quota.max = dimensions_.Intern(quota.info.max);
  quota.min = dimensions_.Intern(quota.info.min);
  quota.weight = dimensions_.Intern(quota.info.weight.empty() ? quota.info.max : quota.info.weight);
  for (QuotaAmounts* each : {&quota.max, &quota.min, &quota.weight}) DropNegative(*each);
  quota.lends = quota.info.allow_lent && !options_.guarantee_usage;
}

void QuotaTree::Remove(std::string_view name) {
  const auto at = quotas_.find(name);
  if (at == quotas_.end()) return;
  ++version_;
  is_settled_ = false;
  index_.Remove(name);
  quotas_.erase(at);
}

void QuotaTree::SetClusterTotal(const kube::ResourceList& total) {
  if (cluster_ == total) return;
  ++version_;
  cluster_ = total;
  if (is_settled_) UpdateTotals();
}

Quota* QuotaTree::Find(std::string_view name) const {
  if (name == api::kRootQuota) return &TreeFor({}).root;
  const auto at = quotas_.find(name);
  return at == quotas_.end() ? nullptr : at->second.get();
}

std::string_view QuotaTree::TreeOf(const QuotaInfo& info) const {
  const bool is_main =
      !options_.multi_tree || info.name == api::kDefaultQuota || info.name == api::kSystemQuota;
  return is_main ? std::string_view() : std::string_view(info.tree_id);
}

QuotaTree::Tree& QuotaTree::TreeFor(const QuotaInfo& info) const {
  const std::string_view id = TreeOf(info);
  const auto known = trees_.find(id);
  std::unique_ptr<Tree>& tree = known != trees_.end() ? known->second : trees_[std::string(id)];
  if (tree == nullptr) {
    tree = std::make_unique<Tree>();
    tree->root.info.name = api::kRootQuota;
    tree->root.info.tree_id = id;
    tree->root.info.is_parent = true;
    tree->root.is_root = true;
    tree->root.is_attached = true;
  }
  return *tree;
}

// ---- Structure

void QuotaTree::SettleNow() {
  if (is_settled_) {
    if (is_main_total_stale_) UpdateMainTotal();
    return;
  }
  is_settled_ = true;
  Link();
  const std::vector<Quota*> order = TopDown();
  for (auto each = order.rbegin(); each != order.rend(); ++each) SumUp(**each);
  UpdateTotals();
  for (Quota* quota : order) {
    if (!quota->children.empty()) BuildLevel(*quota, TreeFor(quota->info));
  }
}

// Finds everybody's parent.
void QuotaTree::Link() {
  std::erase_if(trees_, [](const auto& entry) { return !entry.first.empty(); });
  TreeFor({}).root.children.clear();
  for (const auto& [name, quota] : quotas_) {
    quota->children.clear();
    quota->parent = nullptr;
    quota->is_attached = false;
    quota->is_member = false;
  }
  for (const auto& [name, quota] : quotas_) {
    Tree& tree = TreeFor(quota->info);
    const bool is_top = quota->info.parent == api::kRootQuota || !IsShared(*quota);
    Quota* parent = is_top ? &tree.root : Find(quota->info.parent);
    const bool is_wrong = parent == nullptr || !(parent->is_root || IsShared(*parent)) ||
                          &TreeFor(parent->info) != &tree;
    if (is_wrong) continue;
    quota->parent = parent;
    parent->children.push_back(quota.get());
  }
}

// Parents before their children. Rings are cut where the first name stands.
std::vector<Quota*> QuotaTree::TopDown() {
  std::vector<Quota*> order;
  std::set<const Quota*> seen;
  const auto add_below = [&](Quota* top) {
    const size_t first = order.size();
    order.push_back(top);
    for (size_t i = first; i < order.size(); ++i) {
      seen.insert(order[i]);
      for (Quota* child : order[i]->children) {
        child->is_attached = order[i]->is_attached;
        order.push_back(child);
      }
    }
  };
  for (const auto& [id, tree] : trees_) add_below(&tree->root);
  for (const auto& [name, quota] : quotas_) {
    if (quota->parent == nullptr) add_below(quota.get());
  }
  for (const auto& [name, quota] : quotas_) {
    if (seen.contains(quota.get())) continue;
    std::erase(quota->parent->children, quota.get());
    quota->parent = nullptr;
    add_below(quota.get());
  }
  return order;
}

// From its own pods and its children, whose sums are known.
void QuotaTree::SumUp(Quota& quota) {
  quota.child_request = quota.self.request;
  quota.used = quota.self.used;
  quota.non_preemptible_request = quota.self.non_preemptible_request;
  quota.non_preemptible_used = quota.self.non_preemptible_used;
  for (const Quota* child : quota.children) {
    AddTo(quota.child_request, child->limited);
    AddTo(quota.used, child->used);
    AddTo(quota.non_preemptible_request, child->non_preemptible_request);
    AddTo(quota.non_preemptible_used, child->non_preemptible_used);
  }
  quota.limited = LimitedOf(quota);
  if (!options_.guarantee_usage) return;
  quota.allocated = quota.self.used;
  for (const Quota* child : quota.children) AddTo(quota.allocated, child->guaranteed);
  quota.guaranteed = GuaranteedOf(quota);
}

QuotaAmounts QuotaTree::LimitedOf(const Quota& quota) const {
  QuotaAmounts limited = quota.Request();
  for (QuotaAmount& each : limited) {
    const QuotaAmount* max = model::Find(quota.max, each.id);
    if (max != nullptr) each.value = std::min(each.value, max->value);
  }
  return limited;
}

void QuotaTree::BuildLevel(Quota& quota, const Tree& tree) {
  std::vector<QuotaLevel::Member> members;
  for (Quota* child : quota.children) {
    if (!IsShared(*child)) continue;
    child->is_member = true;
    child->place = members.size();
    members.push_back({.weight = child->weight,
                       .request = child->limited,
                       .min = child->min,
                       .guaranteed = child->guaranteed,
                       .lends = child->lends});
  }
  quota.level.Build(DimensionsBelow(quota), members, options_.scale_min);
  if (quota.is_root) quota.level.SetTotal(tree.total);
}

// Those that a quota is about; the root about what any quota of its tree is.
std::vector<DimensionId> QuotaTree::DimensionsBelow(const Quota& quota) const {
  std::set<DimensionId> ids;
  const auto add = [&](const Quota& from) {
    for (const QuotaAmount& each : from.max) ids.insert(each.id);
  };
  if (!quota.is_root) add(quota);
  if (quota.is_root) {
    for (const auto& [name, each] : quotas_) {
      if (IsShared(*each) && TreeOf(each->info) == TreeOf(quota.info)) add(*each);
    }
  }
  return {ids.begin(), ids.end()};
}

void QuotaTree::UpdateTotals() {
  for (const auto& [id, tree] : trees_) tree->total.clear();
  kube::ResourceList rest = cluster_;
  for (const auto& [name, quota] : quotas_) {
    const QuotaInfo& info = quota->info;
    if (!info.is_tree_root || TreeOf(info).empty()) continue;
    AddTo(TreeFor(info).total, dimensions_.Known(info.total));
    if (!info.ignore_default_tree) kube::SubtractFrom(rest, info.total);
  }
  of_main_tree_ = dimensions_.Known(rest);
  for (const auto& [id, tree] : trees_) tree->root.level.SetTotal(tree->total);
  UpdateMainTotal();
}

void QuotaTree::UpdateMainTotal() {
  is_main_total_stale_ = false;
  Tree& main = TreeFor({});
  main.total = of_main_tree_;
  for (const std::string_view name : {api::kDefaultQuota, api::kSystemQuota}) {
    AddTo(main.total, Masked(Find(name)->used, main.total), -1);
  }
  main.root.level.SetTotal(main.total);
}

// ---- Pods

void QuotaTree::AddRequest(Quota& quota, const QuotaAmounts& amounts, bool non_preemptible,
                           int sign) {
  ++version_;
  AddTo(quota.self.request, amounts, sign);
  if (non_preemptible) AddTo(quota.self.non_preemptible_request, amounts, sign);
  if (!is_settled_) return;
  for (Quota* each = &quota; non_preemptible && each != nullptr; each = each->parent) {
    AddTo(each->non_preemptible_request, amounts, sign);
  }
  QuotaAmounts delta;
  AddTo(delta, amounts, sign);
  PassUpRequest(quota, std::move(delta));
}

void QuotaTree::PassUpRequest(Quota& quota, QuotaAmounts delta) {
  for (Quota* each = &quota; each != nullptr && !delta.empty(); each = each->parent) {
    AddTo(each->child_request, delta);
    QuotaAmounts limited = LimitedOf(*each);
    delta = Difference(limited, each->limited);
    each->limited = std::move(limited);
    if (each->is_member) each->parent->level.SetRequest(each->place, each->limited);
  }
}

void QuotaTree::PassUpAllocated(Quota& quota, QuotaAmounts delta) {
  for (Quota* each = &quota; each != nullptr && !delta.empty(); each = each->parent) {
    AddTo(each->allocated, delta);
    QuotaAmounts guaranteed = GuaranteedOf(*each);
    delta = Difference(guaranteed, each->guaranteed);
    each->guaranteed = std::move(guaranteed);
    if (each->is_member) each->parent->level.SetGuaranteed(each->place, each->guaranteed);
  }
}

void QuotaTree::AddUsed(Quota& quota, const QuotaAmounts& amounts, bool non_preemptible, int sign) {
  ++version_;
  AddTo(quota.self.used, amounts, sign);
  if (non_preemptible) AddTo(quota.self.non_preemptible_used, amounts, sign);
  if (!is_settled_) return;
  for (Quota* each = &quota; each != nullptr; each = each->parent) {
    AddTo(each->used, amounts, sign);
    if (non_preemptible) AddTo(each->non_preemptible_used, amounts, sign);
  }
  if (options_.guarantee_usage) {
    QuotaAmounts delta;
    AddTo(delta, amounts, sign);
    PassUpAllocated(quota, std::move(delta));
  }
  // What most pods are charged to is shared out when somebody asks.
  if (!IsShared(quota)) is_main_total_stale_ = true;
}

void QuotaTree::ForgetPods() {
  ++version_;
  is_settled_ = false;
  for (const auto& [name, quota] : quotas_) quota->self = {};
}

// ---- Answers

const Quota& QuotaTree::Current(const Quota& quota) const {
  Settle();
  return quota;
}

QuotaAmounts QuotaTree::RuntimeOf(const Quota& quota) const {
  Settle();
  if (quota.is_root) return TreeFor(quota.info).total;
  if (!IsShared(quota)) return quota.max;
  if (!quota.is_attached) return {};
  FillLevel(*quota.parent);
  return quota.parent->level.RuntimeOf(quota.place);
}

// Gives a quota's children what it has, from the root down.
void QuotaTree::FillLevel(const Quota& quota) const {
  absl::InlinedVector<const Quota*, 8> way;  // upwards
  for (const Quota* each = &quota; !each->is_root; each = each->parent) way.push_back(each);
  for (; !way.empty(); way.pop_back()) {
    const Quota& each = *way.back();
    each.level.SetTotal(each.parent->level.RuntimeOf(each.place));
  }
}

QuotaAmounts QuotaTree::CountedMinOf(const Quota& quota) const {
  Settle();
  if (!quota.is_member || !quota.is_attached) return quota.min;
  FillLevel(*quota.parent);
  return Masked(quota.parent->level.CountedMinOf(quota.place), quota.min);
}

}  // namespace koord::model
