#include "scheduler/plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>

#include "scheduler/volumes/pod_claims.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kReadWriteOncePod = "ReadWriteOncePod";

bool IsDisk(const kube::Volume& volume) {
  return volume.gce_persistent_disk || volume.aws_elastic_block_store || volume.iscsi || volume.rbd;
}

bool HasDisks(const PodShape& shape) { return std::ranges::any_of(shape.spec().volumes, IsDisk); }

bool Overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(
      a, [&](const std::string& each) { return std::ranges::find(b, each) != b.end(); });
}

bool Conflict(const kube::Volume& a, const kube::Volume& b) {
  if (a.gce_persistent_disk && b.gce_persistent_disk) {
    const auto &x = *a.gce_persistent_disk, &y = *b.gce_persistent_disk;
    if (x.pd_name == y.pd_name && !(x.read_only && y.read_only)) return true;
  }
  if (a.aws_elastic_block_store && b.aws_elastic_block_store &&
      a.aws_elastic_block_store->volume_id == b.aws_elastic_block_store->volume_id) {
    return true;
  }
  if (a.iscsi && b.iscsi && a.iscsi->iqn == b.iscsi->iqn &&
      !(a.iscsi->read_only && b.iscsi->read_only)) {
    return true;
  }
  return a.rbd && b.rbd && Overlap(a.rbd->monitors, b.rbd->monitors) &&
         a.rbd->pool == b.rbd->pool && a.rbd->image == b.rbd->image &&
         !(a.rbd->read_only && b.rbd->read_only);
}

bool Conflict(const PodShape& a, const PodShape& b) {
  return std::ranges::any_of(a.spec().volumes, [&](const kube::Volume& mine) {
    return std::ranges::any_of(b.spec().volumes,
                               [&](const kube::Volume& other) { return Conflict(mine, other); });
  });
}

bool Uses(const PodInfo& pod, const kube::ObjectKey& claim) {
  return pod.shape->has_claims &&
         std::ranges::any_of(ClaimsOf(*pod.pod),
                             [&](const PodClaim& each) { return each.key == claim; });
}

}  // namespace

struct VolumeRestrictions::State final : PluginState {
  bool disks = false;
  std::vector<kube::ObjectKey> exclusive;  // claims that one pod may use
};

VolumeRestrictions::VolumeRestrictions(const PluginContext& context)
    : objects_(context.objects),
      disk_conflict_(context.reasons.Intern("node(s) had no available disk")),
      in_use_(context.reasons.Intern(
          "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
          "already in-use by another pod")) {
  const NodeTable& nodes = context.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) OnPodAdded(*pod);
  }
  context.ledger.AddListener(*this);
}

void VolumeRestrictions::CountClaims(const PodInfo& pod, int sign) {
  for (const PodClaim& claim : ClaimsOf(*pod.pod)) {
    const auto at = uses_.try_emplace(claim.key, 0).first;
    if ((at->second += sign) == 0) uses_.erase(at);
  }
}

void VolumeRestrictions::OnPodAdded(const PodInfo& pod) {
  if (pod.shape->spec().volumes.empty()) return;
  if (pod.shape->has_claims) CountClaims(pod, 1);
  if (HasDisks(*pod.shape)) disk_users_[pod.row].push_back(&pod);
  ++version_;
}

void VolumeRestrictions::OnPodRemoved(const PodInfo& pod) {
  if (pod.shape->spec().volumes.empty()) return;
  if (pod.shape->has_claims) CountClaims(pod, -1);
  if (const auto at = disk_users_.find(pod.row); at != disk_users_.end()) {
    std::erase(at->second, &pod);
    if (at->second.empty()) disk_users_.erase(at);
  }
  ++version_;
}

uint64_t VolumeRestrictions::VersionFor(const PodShape& shape) const {
  return shape.has_claims ? objects_.persistent_volume_claims.version() : 0;
}

std::unique_ptr<PluginState> VolumeRestrictions::Compile(const PodShape& shape) {
  if (shape.spec().volumes.empty()) return nullptr;
  State state;
  state.disks = HasDisks(shape);
  for (const PodClaim& each : ClaimsOf(*shape.sample)) {
    const auto* claim = objects_.persistent_volume_claims.Find(each.key);
    if (claim == nullptr) continue;
    if (std::ranges::find(claim->spec.access_modes, kReadWriteOncePod) !=
        claim->spec.access_modes.end()) {
      state.exclusive.push_back(each.key);
    }
  }
  if (!state.disks && state.exclusive.empty()) return nullptr;
  return std::make_unique<State>(std::move(state));
}

PreFilterResult VolumeRestrictions::PreFilter(PodQuery& query) {
  return query.has_state(slot()) ? PreFilterResult::Success() : PreFilterResult::Skip();
}

uint64_t VolumeRestrictions::WideVersion(const PodQuery& query) {
  return query.has_state(slot()) ? version_ : 0;
}

bool VolumeRestrictions::IsInUse(const kube::ObjectKey& claim, const RowDelta* delta) const {
  const auto found = uses_.find(claim);
  int64_t uses = found == uses_.end() ? 0 : found->second;
  if (delta != nullptr) {
    const auto uses_it = [&](const PodInfo* pod) { return Uses(*pod, claim); };
    uses -= std::ranges::count_if(delta->removed, uses_it);
    uses += std::ranges::count_if(delta->added, uses_it);
  }
  return uses > 0;
}

void VolumeRestrictions::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  if (!query.has_state(slot())) return;
  const State& state = query.state<State>(slot());
  if (std::ranges::any_of(state.exclusive,
                          [&](const auto& claim) { return IsInUse(claim, nullptr); })) {
    std::fill_n(keep, rows.size(), 0);
    return;
  }
  if (!state.disks) return;
  for (const auto& [row, users] : disk_users_) {
    if (row < rows.begin || row >= rows.end) continue;
    if (std::ranges::any_of(
            users, [&](const PodInfo* pod) { return Conflict(query.shape(), *pod->shape); })) {
      keep[row - rows.begin] = 0;
    }
  }
}

RowVerdict VolumeRestrictions::Check(const PodQuery& query, const RowView& row) {
  if (!query.has_state(slot())) return {};
  const State& state = query.state<State>(slot());
  bool conflict = false;
  if (state.disks) {
    row.ForEachPod(query.nodes(), [&](const PodInfo& pod) {
      conflict = conflict || Conflict(query.shape(), *pod.shape);
    });
  }
  if (conflict) return RowVerdict::Unschedulable(disk_conflict_);
  for (const kube::ObjectKey& claim : state.exclusive) {
    if (IsInUse(claim, row.delta)) return RowVerdict::Unschedulable(in_use_);
  }
  return {};
}

bool VolumeRestrictions::Wants(EventKind kind) const { return MayFreeVolumes(kind); }

}  // namespace koord::scheduler
