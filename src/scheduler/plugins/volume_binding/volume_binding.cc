#include "scheduler/plugins/volume_binding/volume_binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/volumes/pod_claims.h"

namespace koord::scheduler {
namespace {

// What keeps a claim from being used at all; "" if nothing does.
std::string Trouble(const PodClaim& wanted, const kube::PersistentVolumeClaim* claim,
                    const kube::Pod& pod) {
  const std::string& name = wanted.key.name;
  if (claim == nullptr) {
    return wanted.ephemeral ? fmt::format(
                                  "waiting for ephemeral volume controller to create the "
                                  "persistentvolumeclaim \"{}\"",
                                  name)
                            : fmt::format("persistentvolumeclaim \"{}\" not found", name);
  }
  if (claim->status.phase == "Lost") {
    return fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                       name, claim->spec.volume_name);
  }
  if (IsBeingDeleted(claim->metadata)) {
    return fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
  }
  if (wanted.ephemeral && !IsMadeFor(*claim, pod)) return NotMadeForText(wanted.key, pod);
  return "";
}

}  // namespace

struct VolumeBinding::State final : PluginState {
  Verdict verdict;  // of the claims themselves
  bool volume_missing = false;
  std::vector<NodeMatcher> bound;  // of volumes that cannot be used everywhere
  std::vector<ClaimPlan> waiting;  // smallest request first
};

struct VolumeBinding::Promise final : AttemptState {
  ClaimBindings bindings;
};

// What would become of the waiting claims on a row.
struct VolumeBinding::RowPlan {
  ClaimBindings bindings;
  bool conflict = false;
  bool no_space = false;
};

VolumeBinding::VolumeBinding(const PluginContext& context, const VolumeBindingArgs& args)
    : context_(context),
      binder_(context, std::chrono::seconds(args.bind_timeout_seconds)),
      node_conflict_(
          context.reasons.Intern("node(s) didn't match PersistentVolume's node affinity")),
      bind_conflict_(
          context.reasons.Intern("node(s) didn't find available persistent volumes to bind")),
      no_space_(context.reasons.Intern("node(s) did not have enough free storage")),
      no_volume_(context.reasons.Intern(
          "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")) {}

uint64_t VolumeBinding::VersionFor(const PodShape& shape) const {
  if (!shape.has_claims) return 0;
  const ClusterObjects& objects = context_.objects;
  return objects.persistent_volume_claims.version() + objects.persistent_volumes.version() +
         objects.storage_classes.version() + objects.csi_drivers.version() +
         objects.csi_storage_capacities.version() + assumed_.version();
}

std::unique_ptr<PluginState> VolumeBinding::Compile(const PodShape& shape) {
  if (!shape.has_claims) return nullptr;
  auto state = std::make_unique<State>();
  state->verdict = FindClaims(*shape.sample, *state);
  return state;
}

Verdict VolumeBinding::FindClaims(const kube::Pod& pod, State& state) const {
  const ClusterObjects& objects = context_.objects;
  std::vector<const kube::PersistentVolumeClaim*> claims;
  for (const PodClaim& each : ClaimsOf(pod)) {
    const auto* claim = objects.persistent_volume_claims.Find(each.key);
    if (std::string trouble = Trouble(each, claim, pod); !trouble.empty()) {
      return Verdict::Unresolvable(std::move(trouble));
    }
    claims.push_back(claim);
  }
  for (const kube::PersistentVolumeClaim* claim : claims) {
    if (!IsBound(*claim)) {
      if (!claim->spec.volume_name.empty() || !WaitsForPod(*claim, objects)) {
        return Verdict::Unresolvable("pod has unbound immediate PersistentVolumeClaims");
      }
      state.waiting.push_back(PlanFor(*claim, context_.nodes(), objects, assumed_));
      continue;
    }
    const kube::PersistentVolume* volume = VolumeOf(*claim, objects);
    state.volume_missing |= volume == nullptr;
    if (volume == nullptr || NodesOf(*volume) == nullptr) continue;
    state.bound.emplace_back(context_.nodes(), kube::Labels{}, NodesOf(*volume));
  }
  std::ranges::stable_sort(state.waiting, {}, &ClaimPlan::request);
  return Verdict::Success();
}

PreFilterResult VolumeBinding::PreFilter(PodQuery& query) {
  if (!query.has_state(slot())) return PreFilterResult::Skip();
  return {query.state<State>(slot()).verdict};
}

VolumeBinding::RowPlan VolumeBinding::PlanRow(State& state, NodeRow row) const {
  RowPlan plan;
  plan.bindings.node = context_.nodes().name(row);
  std::vector<ClaimPlan*> unmatched;
  for (ClaimPlan& claim : state.waiting) {
    if (claim.selected_node.empty()) continue;
    if (claim.selected_node != plan.bindings.node) plan.conflict = true;
    unmatched.push_back(&claim);
  }
  if (plan.conflict) return plan;
  std::vector<std::string_view> taken;
  for (ClaimPlan& claim : state.waiting) {
    if (!claim.selected_node.empty()) continue;
    if (const auto* volume = claim.Find(row, taken)) {
      taken.push_back(volume->volume);
      plan.bindings.binds.push_back({claim.claim, volume->volume});
    } else {
      unmatched.push_back(&claim);
    }
  }
  for (ClaimPlan* claim : unmatched) {
    const ClaimPlan::Outcome outcome = claim->Provision(row);
    plan.conflict = outcome == ClaimPlan::Outcome::kConflict;
    plan.no_space = outcome == ClaimPlan::Outcome::kNoSpace;
    if (plan.conflict || plan.no_space) return plan;
    plan.bindings.provisions.push_back(claim->claim);
  }
  return plan;
}

void VolumeBinding::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  if (!query.has_state(slot())) return;
  State& state = query.state<State>(slot());
  if (state.volume_missing) std::fill_n(keep, rows.size(), 0);
  for (NodeMatcher& nodes : state.bound) nodes.Narrow(rows, keep);
  for (ClaimPlan& claim : state.waiting) claim.Narrow(context_.nodes(), rows, keep);
  if (state.waiting.size() < 2) return;
  // Each could be satisfied alone; together they may want the same volume.
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    if (!keep[row - rows.begin]) continue;
    const RowPlan plan = PlanRow(state, row);
    if (plan.conflict || plan.no_space) keep[row - rows.begin] = 0;
  }
}

RowVerdict VolumeBinding::Check(const PodQuery& query, const RowView& row) {
  if (!query.has_state(slot())) return {};
  State& state = query.state<State>(slot());
  RowVerdict verdict;
  const auto add = [&](ReasonId reason) {
    verdict.code = Code::kUnschedulableAndUnresolvable;
    verdict.reasons.push_back(reason);
  };
  if (!std::ranges::all_of(state.bound,
                           [&](NodeMatcher& nodes) { return nodes.Matches(row.row); })) {
    add(node_conflict_);
  }
  const RowPlan plan = PlanRow(state, row.row);
  if (plan.conflict) add(bind_conflict_);
  if (plan.no_space) add(no_space_);
  if (state.volume_missing) add(no_volume_);
  return verdict;
}

// ---- A pod and its node

Verdict VolumeBinding::Reserve(Attempt& attempt) {
  if (!attempt.shape->has_claims) return Verdict::Success();
  for (const PodClaim& each : ClaimsOf(*attempt.pod)) {
    const auto* claim = context_.objects.persistent_volume_claims.Find(each.key);
    if (each.ephemeral && claim != nullptr && !IsMadeForExactly(*claim, *attempt.pod)) {
      return Verdict::Error(NotMadeForText(each.key, *attempt.pod));
    }
  }
  State state;
  if (Verdict verdict = FindClaims(*attempt.pod, state); !verdict.ok()) return verdict;
  RowPlan plan = PlanRow(state, attempt.row);
  if (plan.conflict || plan.no_space) {
    return Verdict::Unresolvable(
        context_.reasons.TextOf(plan.conflict ? bind_conflict_ : no_space_));
  }
  if (plan.bindings.binds.empty() && plan.bindings.provisions.empty()) return Verdict::Success();
  for (const ClaimBindings::Bind& bind : plan.bindings.binds) {
    assumed_.Bind(bind.volume, bind.claim);
  }
  for (const kube::ObjectKey& claim : plan.bindings.provisions) {
    assumed_.Select(claim, plan.bindings.node);
  }
  auto promise = std::make_unique<Promise>();
  promise->bindings = std::move(plan.bindings);
  attempt.SetState(slot(), std::move(promise));
  return Verdict::Success();
}

void VolumeBinding::Release(const ClaimBindings& bindings) {
  for (const ClaimBindings::Bind& bind : bindings.binds) assumed_.Unbind(bind.volume);
  for (const kube::ObjectKey& claim : bindings.provisions) assumed_.Unselect(claim);
}

void VolumeBinding::Unreserve(Attempt& attempt) {
  Promise* promise = attempt.state<Promise>(slot());
  if (promise == nullptr) return;
  binder_.Cancel(attempt.pod->metadata.uid);
  Release(promise->bindings);
  attempt.SetState(slot(), nullptr);
}

void VolumeBinding::PreBind(Attempt& attempt, VerdictDone done) {
  const Promise* promise = attempt.state<Promise>(slot());
  if (promise == nullptr || context_.client == nullptr) return done(Verdict::Success());
  binder_.Start(
      attempt.pod->metadata.uid, promise->bindings,
      [this, bindings = promise->bindings, done = std::move(done)](Verdict verdict) mutable {
        // The API server shows it now.
        if (verdict.ok()) Release(bindings);
        done(std::move(verdict));
      });
}

bool VolumeBinding::Wants(EventKind kind) const { return MayFreeVolumes(kind); }

}  // namespace koord::scheduler
