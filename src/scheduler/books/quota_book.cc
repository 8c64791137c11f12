#include "scheduler/books/quota_book.h"

#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/keys.h"
#include "kube/objects/pod_resources.h"
#include "scheduler/cluster/holdings.h"

namespace koord::scheduler {

using model::Quota;
using model::QuotaAmounts;
using model::QuotaCharge;
using model::QuotaInfo;

namespace {

// A quota's own idea of what it was guaranteed is what was written there by a scheduler.
QuotaInfo InfoOfObject(const api::ElasticQuota& object) {
  QuotaInfo info = model::InfoOf(object);
  info.guaranteed.clear();
  return info;
}

bool HaveSameNames(const kube::ResourceList& a, const kube::ResourceList& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.first == y.first; });
}

// Whether pods are charged to the same quota for the same resources, as far as this one goes.
bool ChargesTheSame(const QuotaInfo& a, const QuotaInfo& b) {
  return a.ns == b.ns && a.namespaces == b.namespaces && HaveSameNames(a.max, b.max);
}

QuotaInfo BuiltIn(std::string_view name, const kube::ResourceList& max) {
  QuotaInfo info;
  info.name = name;
  info.parent = api::kRootQuota;
  info.max = max;
  info.weight = max;
  return info;
}

// Of several objects of one name the oldest counts, whatever the order in which they are seen.
bool ComesFirst(const QuotaBook::QuotaPtr& a, const QuotaBook::QuotaPtr& b) {
  return std::tie(a->metadata.creation_timestamp, a->metadata.ns) <
         std::tie(b->metadata.creation_timestamp, b->metadata.ns);
}

// What decides whose a pod is.
struct Belonging {
  std::string ns;
  std::string label;
};
struct BelongingView {
  std::string_view ns;
  std::string_view label;
};
struct BelongingHash {
  using is_transparent = void;
  size_t operator()(const auto& of) const {
    return absl::HashOf(std::string_view(of.ns), std::string_view(of.label));
  }
};
struct SameBelonging {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const { return a.ns == b.ns && a.label == b.label; }
};
// More than that are not remembered: pods may say anything.
constexpr size_t kMostBelongings = 10'000;

WallTime EndOfGrace(const kube::ObjectMeta& pod) {
  return *pod.deletion_timestamp +
         std::chrono::seconds(pod.deletion_grace_period_seconds.value_or(0));
}

}  // namespace

struct QuotaBook::State {
  State(const Options& options, const Sources& sources)
      : options(options),
        quotas(sources.quotas),
        loop(sources.loop),
        pending(sources.pending),
        tree(options.tree),
        timer(sources.loop) {}

  const Options options;
  ObjectCache<api::ElasticQuota>& quotas;
  EventLoop& loop;
  PendingPods* const pending;
  model::QuotaTree tree;

  StringMap<std::vector<QuotaPtr>> objects;  // by name; the one that counts first
  uint64_t structure = 1;
  bool is_charged = false;  // false: all pods have to be charged anew
  bool is_charging = false;
  bool has_totals = false;
  absl::flat_hash_map<NodeRow, std::shared_ptr<const kube::Node>> nodes;
  kube::ResourceList total;

  // Of pods that are being deleted: those that count no longer, and when others will not.
  StringSet ignored;
  std::set<std::pair<WallTime, std::string>> until;
  Timer timer;
  absl::flat_hash_map<const Quota*, AssignedPods> assigned;
  // Pods without a node of built-in quotas that are charged when somebody asks: where nobody uses
  // quotas that is seldom, and most of them have a node by then.
  StringSet deferred;
  // Where pods of a namespace with a label go; forgotten when the structure moves.
  absl::flat_hash_map<Belonging, Quota*, BelongingHash, SameBelonging> resolved;
};

QuotaBook::QuotaBook(Ledger& ledger) : ledger_(ledger) {}

QuotaBook::~QuotaBook() = default;

void QuotaBook::Open(const Options& options, const Sources& sources) {
  if (is_open()) return;
  state_ = std::make_unique<State>(options, sources);
  SetQuota(std::string(api::kDefaultQuota));
  SetQuota(std::string(api::kSystemQuota));
  for (const auto& [key, quota] : sources.quotas.objects()) OnQuota(nullptr, quota);
  sources.quotas.AddWatcher(
      [this](const QuotaPtr& before, const QuotaPtr& after) { OnQuota(before, after); });
  const NodeTable& nodes = ledger_.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (nodes.live()[row]) OnNodeAdded(row);
  }
  ledger_.AddListener(*this);
  if (sources.pending != nullptr) sources.pending->AddListener(*this);
}

// ---- Quotas

QuotaInfo QuotaBook::InfoFor(const std::string& name, const QuotaPtr& object) const {
  if (object != nullptr) return InfoOfObject(*object);
  return BuiltIn(
      name, name == api::kDefaultQuota ? state_->options.default_max : state_->options.system_max);
}

void QuotaBook::OnQuota(const QuotaPtr& before, const QuotaPtr& after) {
  const std::string name = (after != nullptr ? after : before)->metadata.name;
  std::vector<QuotaPtr>& objects = state_->objects[name];
  if (before != nullptr) {
    std::erase_if(objects,
                  [&](const QuotaPtr& each) { return each->metadata.ns == before->metadata.ns; });
  }
  if (after != nullptr) {
    objects.insert(std::ranges::upper_bound(objects, after, ComesFirst), after);
  }
  if (objects.empty()) state_->objects.erase(name);
  SetQuota(name);
}

void QuotaBook::SetQuota(const std::string& name) {
  State& state = *state_;
  if (name == api::kRootQuota) return;
  const QuotaPtr object = ObjectOf(name);
  const Quota* known = state.tree.Find(name);
  const bool is_gone = object == nullptr && !model::IsBuiltInQuota(name);
  if (is_gone && known == nullptr) return;
  if (is_gone) {
    state.is_charged = false;
    state.tree.Remove(name);
  } else {
    QuotaInfo info = InfoFor(name, object);
    if (known != nullptr && known->info == info) return;
    if (known == nullptr || !ChargesTheSame(known->info, info)) state.is_charged = false;
    state.tree.Set(std::move(info));
  }
  if (!state.is_charged) {
    ++state.structure;
    state.resolved.clear();
  }
  Tell();
}

QuotaBook::QuotaPtr QuotaBook::ObjectOf(std::string_view name) const {
  const auto at = state_->objects.find(name);
  return at == state_->objects.end() ? nullptr : at->second.front();
}

std::string QuotaBook::ProblemOf(const api::ElasticQuota& quota) const {
  const std::string& name = quota.metadata.name;
  if (name == api::kRootQuota) return "";
  const QuotaPtr counts = ObjectOf(name);
  if (counts != nullptr && counts->metadata.ns != quota.metadata.ns) {
    return fmt::format("the names of quotas count across namespaces: {}/{} is older and counts",
                       counts->metadata.ns, name);
  }
  if (const Status status = model::CheckQuota(quota); !status.ok()) {
    return std::string(Message(status));
  }
  const Quota* known = tree().Find(name);
  if (known == nullptr || tree().Current(*known).is_attached) return "";
  return fmt::format("its parent {} is not there, is in another tree, or is below it",
                     known->info.parent);
}

// ---- What there is

void QuotaBook::SetTotal(NodeRow row, std::shared_ptr<const kube::Node> node) {
  std::shared_ptr<const kube::Node>& slot = state_->nodes[row];
  if (slot != nullptr) kube::SubtractFrom(state_->total, slot->status.allocatable);
  if (node != nullptr) kube::AddTo(state_->total, node->status.allocatable);
  slot = std::move(node);
  if (slot == nullptr) state_->nodes.erase(row);
  state_->has_totals = false;
  Tell();
}

void QuotaBook::OnNodeAdded(NodeRow row) { SetTotal(row, ledger_.nodes().shared_node(row)); }

void QuotaBook::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (changes.allocatable) SetTotal(row, ledger_.nodes().shared_node(row));
}

void QuotaBook::OnNodeRemoved(NodeRow row) { SetTotal(row, nullptr); }

void QuotaBook::Refresh() const {
  auto& self = const_cast<QuotaBook&>(*this);
  if (!state_->has_totals) {
    state_->has_totals = true;
    self.state_->tree.SetClusterTotal(state_->total);
  }
  if (!state_->is_charged) self.ChargeAll();
  if (!state_->deferred.empty()) self.ChargeDeferred();
}

void QuotaBook::ChargeDeferred() {
  for (const std::string& uid : std::exchange(state_->deferred, {})) {
    const auto pod = state_->pending->pods().find(uid);
    Quota* quota = pod == state_->pending->pods().end() ? nullptr : Find(**pod);
    if (quota == nullptr) continue;
    const QuotaCharge charge = ChargeOf(**pod, *quota);
    state_->tree.AddRequest(*quota, charge.amounts, charge.non_preemptible, 1);
  }
}

void QuotaBook::ChargeAll() {
  state_->is_charged = true;
  state_->is_charging = true;
  state_->tree.ForgetPods();
  state_->ignored.clear();
  state_->until.clear();
  state_->assigned.clear();
  state_->deferred.clear();
  if (state_->pending != nullptr) {
    for (const PodPtr& pod : state_->pending->pods()) ChargePending(*pod, 1);
  }
  ledger_.ForEachPod([this](const PodInfo& pod) { Assign(pod); });
  state_->is_charging = false;
}

// ---- Pods

bool QuotaBook::IsPending(std::string_view uid) const {
  return state_->pending != nullptr && state_->pending->contains(uid);
}

void QuotaBook::OnPodPending(const PodPtr& before, const PodPtr& after) {
  if (before != nullptr) {
    ChargePending(*before, -1);
  } else if (const PodInfo* pod = ledger_.Find(after->metadata.uid)) {
    Charge(*pod, Side::kRequest, -1);
  }
  ChargePending(*after, 1);
}

// What is requested of a pod that has a node is what it is charged there.
void QuotaBook::OnPodBound(const PodPtr& before, const PodPtr&) {
  if (before != nullptr) OnPodGone(before);
}

void QuotaBook::OnPodGone(const PodPtr& last) {
  ChargePending(*last, -1);
  const PodInfo* pod = ledger_.Find(last->metadata.uid);
  if (pod != nullptr) {
    Charge(*pod, Side::kRequest, 1);
  } else {
    state_->ignored.erase(last->metadata.uid);
  }
}

void QuotaBook::Assign(const PodInfo& pod) {
  Charge(pod, IsPending(pod.uid()) ? Side::kUsed : Side::kBoth, 1);
}

void QuotaBook::Unassign(const PodInfo& pod) {
  const bool is_pending = IsPending(pod.uid());
  Charge(pod, is_pending ? Side::kUsed : Side::kBoth, -1);
  if (!is_pending) state_->ignored.erase(pod.uid());
}

// Its time to end may have been cut short.
void QuotaBook::OnPodRefreshed(const PodInfo& pod) {
  if (pod.terminating() && !IsIgnored(*pod.pod)) Counts(*pod.pod, true);
}

void QuotaBook::ChargePending(const kube::Pod& pod, int sign) {
  if (!state_->is_charged || IsReservePod(pod)) return;
  if (sign < 0 && state_->deferred.erase(pod.metadata.uid) != 0) return;
  const bool is_assigned = sign > 0 && ledger_.Find(pod.metadata.uid) != nullptr;
  if (sign > 0 ? !Counts(pod, is_assigned) : IsIgnored(pod)) return;
  Quota* quota = Find(pod);
  if (quota == nullptr) return;
  if (sign > 0 && model::IsBuiltInQuota(quota->name())) {
    state_->deferred.insert(pod.metadata.uid);
    return Tell();
  }
  Add(*quota, ChargeOf(pod, *quota), Side::kRequest, sign);
}

void QuotaBook::Charge(const PodInfo& pod, Side side, int sign) {
  if (!state_->is_charged || IsReservePod(*pod.pod)) return;
  if (sign > 0 ? !Counts(*pod.pod, side != Side::kBoth) : IsIgnored(*pod.pod)) return;
  Quota* quota = Find(*pod.pod);
  if (quota == nullptr) return;
  Add(*quota, ChargeOf(pod, *quota), side, sign);
  if (side != Side::kRequest) Index(pod, *quota, sign);
}

void QuotaBook::Index(const PodInfo& pod, const Quota& quota, int sign) {
  if (!state_->options.index_built_in && model::IsBuiltInQuota(quota.name())) return;
  AssignedPods& pods = state_->assigned[&quota];
  const int32_t priority = pod.shape->priority;
  if (sign > 0) {
    pods[priority].insert(&pod);
    return;
  }
  const auto at = pods.find(priority);
  if (at == pods.end()) return;
  at->second.erase(&pod);
  if (at->second.empty()) pods.erase(at);
  if (pods.empty()) state_->assigned.erase(&quota);
}

const QuotaBook::AssignedPods& QuotaBook::AssignedTo(const Quota& quota) const {
  static const AssignedPods kNone;
  Refresh();
  const auto at = state_->assigned.find(&quota);
  return at == state_->assigned.end() ? kNone : at->second;
}

void QuotaBook::Add(Quota& quota, const QuotaCharge& charge, Side side, int sign) {
  model::QuotaTree& tree = state_->tree;
  if (side != Side::kUsed) tree.AddRequest(quota, charge.amounts, charge.non_preemptible, sign);
  if (side != Side::kRequest) tree.AddUsed(quota, charge.amounts, charge.non_preemptible, sign);
  // That a pod of a team is placed makes room for nobody, and is what happens most.
  const bool only_uses_more = side == Side::kUsed && sign > 0 &&
                              !model::IsBuiltInQuota(quota.name()) &&
                              !state_->options.tree.guarantee_usage;
  if (!only_uses_more) Tell();
}

Quota* QuotaBook::Find(const kube::Pod& pod) const {
  State& state = *state_;
  const std::string_view label = kube::ValueOf(pod.metadata.labels, api::kLabelQuotaName);
  const auto known = state.resolved.find(BelongingView{pod.metadata.ns, label});
  if (known != state.resolved.end()) return known->second;
  const std::string_view name =
      state.tree.index().ChargedFor(label, pod.metadata.ns, state.options.no_default);
  // The root is no quota that a pod can be charged to.
  Quota* found = name.empty() || name == api::kRootQuota ? nullptr : state.tree.Find(name);
  if (state.resolved.size() >= kMostBelongings) state.resolved.clear();
  state.resolved.emplace(Belonging{pod.metadata.ns, std::string(label)}, found);
  return found;
}

QuotaCharge QuotaBook::ChargeOf(const kube::Pod& pod, const Quota& quota) const {
  kube::ResourceList requests = kube::PodRequests(pod);
  if (state_->options.ignore_overhead) kube::SubtractFrom(requests, pod.spec.overhead);
  return {.amounts = model::Masked(state_->tree.dimensions().Known(requests), quota.max),
          .non_preemptible = !api::IsPreemptibleInQuota(pod.metadata.labels)};
}

QuotaCharge QuotaBook::ChargeOf(const PodInfo& pod, const Quota& quota) const {
  const model::Dimensions& dimensions = state_->tree.dimensions();
  QuotaCharge charge{.amounts = {},
                     .non_preemptible = !api::IsPreemptibleInQuota(pod.pod->metadata.labels)};
  const kube::ResourceList& overhead = pod.pod->spec.overhead;
  for (const ResourceAmount& each : pod.requests()) {
    const std::string& name = ledger_.resources().NameOf(each.id);
    const auto id = dimensions.Find(name);
    if (!id || model::Find(quota.max, *id) == nullptr) continue;
    int64_t amount = each.amount;
    if (state_->options.ignore_overhead) {
      amount -= model::Dimensions::ValueOf(name, kube::AmountOf(overhead, name));
    }
    model::AddTo(charge.amounts, QuotaAmounts{{*id, amount}});
  }
  return charge;
}

// ---- Pods that are being deleted

bool QuotaBook::IsIgnored(const kube::Pod& pod) const {
  return !state_->ignored.empty() && state_->ignored.contains(pod.metadata.uid);
}

bool QuotaBook::Counts(const kube::Pod& pod, bool is_charged) {
  State& state = *state_;
  if (state.options.terminating == Terminating::kCount) return true;
  if (IsIgnored(pod)) return false;
  if (!IsBeingDeleted(pod.metadata)) return true;
  const WallTime end = EndOfGrace(pod.metadata);
  const bool is_over =
      state.options.terminating == Terminating::kIgnore || state.loop.clock().Now() > end;
  if (is_over) {
    state.ignored.insert(pod.metadata.uid);
    // Which part of it was charged is not worth finding out: this is rare.
    if (is_charged && !state.is_charging) {
      state.is_charged = false;
      Tell();
    }
    return false;
  }
  const bool is_next = state.until.empty() || end < state.until.begin()->first;
  state.until.emplace(end, pod.metadata.uid);
  if (is_next) IgnoreThoseDue();
  return true;
}

void QuotaBook::Ignore(const std::string& uid) {
  if (state_->ignored.contains(uid)) return;
  const PodInfo* assigned = ledger_.Find(uid);
  const PodPtr waiting = IsPending(uid) ? *state_->pending->pods().find(uid) : nullptr;
  const kube::Pod* newest = waiting != nullptr    ? waiting.get()
                            : assigned != nullptr ? assigned->pod.get()
                                                  : nullptr;
  if (newest == nullptr || !IsBeingDeleted(newest->metadata)) return;
  if (EndOfGrace(newest->metadata) >= state_->loop.clock().Now()) return;
  if (assigned != nullptr) {
    Charge(*assigned, waiting != nullptr ? Side::kUsed : Side::kBoth, -1);
  }
  if (waiting != nullptr) ChargePending(*waiting, -1);
  state_->ignored.insert(uid);
}

void QuotaBook::IgnoreThoseDue() {
  State& state = *state_;
  const WallTime now = state.loop.clock().Now();
  while (!state.until.empty() && state.until.begin()->first < now) {
    const std::string uid = state.until.begin()->second;
    state.until.erase(state.until.begin());
    Ignore(uid);
  }
  if (state.until.empty()) return;
  // "After" its end: a moment later.
  state.timer.Set(state.until.begin()->first - now + 1ms, [this] { IgnoreThoseDue(); });
}

// ---- Answers

void QuotaBook::Tell() {
  if (state_->is_charging) return;  // who asks will see
  for (const auto& changed : on_change_) changed();
}

const model::QuotaTree& QuotaBook::tree() const {
  Refresh();
  return state_->tree;
}

const QuotaBook::Options& QuotaBook::options() const { return state_->options; }

uint64_t QuotaBook::structure() const { return state_->structure; }

const Quota* QuotaBook::QuotaOf(const kube::Pod& pod) const {
  Refresh();
  return Find(pod);
}

void QuotaBook::ForEachAssigned(
    const std::function<void(const PodInfo&, const Quota&)>& visit) const {
  Refresh();
  ledger_.ForEachPod([&](const PodInfo& pod) {
    if (IsReservePod(*pod.pod) || IsIgnored(*pod.pod)) return;
    if (const Quota* quota = Find(*pod.pod)) visit(pod, *quota);
  });
}

void QuotaBook::ForEachPending(
    const std::function<void(const kube::Pod&, const Quota&)>& visit) const {
  Refresh();
  if (state_->pending == nullptr) return;
  for (const PodPtr& pod : state_->pending->pods()) {
    if (IsReservePod(*pod) || IsIgnored(*pod)) continue;
    if (const Quota* quota = Find(*pod)) visit(*pod, *quota);
  }
}

}  // namespace koord::scheduler
