#include "scheduler/plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/volumes/pod_claims.h"

namespace koord::scheduler {

struct NodeVolumeLimits::State final : PluginState {
  struct Need {
    DriverPtr driver;
    std::vector<Volume> volumes;
  };
  std::vector<Need> needs;
};

NodeVolumeLimits::NodeVolumeLimits(const PluginContext& context)
    : context_(context), exceeded_(context.reasons.Intern("node(s) exceed max volume count")) {
  for (const auto& [key, attachment] : context_.objects.volume_attachments.objects()) {
    SetAttachment(*attachment, 1);
  }
  const NodeTable& nodes = context_.nodes();
  GrowTo(nodes.rows());
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) OnPodAdded(*pod);
    if (nodes.IsLive(row)) OnNodeAdded(row);
  }
  context_.ledger.AddListener(*this);
  context_.objects.csi_nodes.AddWatcher([this](const auto& before, const auto& after) {
    const auto row = context_.nodes().Find((after ? after : before)->metadata.name);
    if (!row) return;
    SetLimits(*row, after.get());
    context_.ledger.nodes().Touch(*row);
  });
  context_.objects.volume_attachments.AddWatcher([this](const auto& before, const auto& after) {
    if (before) SetAttachment(*before, -1);
    if (after) SetAttachment(*after, 1);
  });
}

// ---- Columns

void NodeVolumeLimits::GrowTo(size_t rows) {
  if (rows <= claims_.size()) return;
  claims_.resize(rows);
  attachments_.resize(rows);
  for (const auto& [name, driver] : drivers_) driver->limits.resize(rows, kUnlimited);
}

int32_t NodeVolumeLimits::LimitOf(const std::string& driver, std::string_view node) const {
  const kube::CsiNode* drivers = context_.objects.csi_nodes.Find(node);
  if (drivers == nullptr) return kUnlimited;
  for (const kube::CsiNodeDriver& each : drivers->spec.drivers) {
    if (each.name != driver || !each.allocatable || !each.allocatable->count) continue;
    return std::max(0, *each.allocatable->count);
  }
  return kUnlimited;
}

NodeVolumeLimits::DriverPtr NodeVolumeLimits::DriverOf(const std::string& name) {
  if (const auto found = drivers_.find(name); found != drivers_.end()) return found->second;
  if (drivers_.size() >= drop_drivers_at_) {
    absl::erase_if(drivers_, [](const auto& entry) { return entry.second.use_count() == 1; });
    drop_drivers_at_ = std::max<size_t>(16, 2 * drivers_.size());
  }
  auto driver = std::make_shared<Driver>(Driver{name, {}});
  drivers_.emplace(name, driver);
  driver->limits.resize(claims_.size(), kUnlimited);
  for (NodeRow row{0}; row < driver->limits.size(); ++row) {
    if (context_.nodes().IsLive(row)) {
      driver->limits[row] = LimitOf(name, context_.nodes().name(row));
    }
  }
  return driver;
}

void NodeVolumeLimits::SetLimits(NodeRow row, const kube::CsiNode* node) {
  for (const auto& [name, driver] : drivers_) {
    driver->limits[row] = node == nullptr ? kUnlimited : LimitOf(name, context_.nodes().name(row));
  }
}

void NodeVolumeLimits::SetAttachment(const kube::VolumeAttachment& attachment, int sign) {
  const kube::VolumeAttachmentSpec& spec = attachment.spec;
  if (spec.source.persistent_volume_name.empty()) return;
  std::vector<Volume>& attached = attached_[spec.node_name];
  Volume volume{spec.attacher, spec.source.persistent_volume_name};
  if (sign > 0) {
    attached.push_back(std::move(volume));
  } else if (const auto at = std::ranges::find(attached, volume); at != attached.end()) {
    attached.erase(at);
  }
  const auto count = static_cast<int32_t>(attached.size());
  if (count == 0) attached_.erase(spec.node_name);
  const auto row = context_.nodes().Find(spec.node_name);
  if (!row || *row >= attachments_.size()) return;
  attachments_[*row] = count;
  context_.ledger.nodes().Touch(*row);
}

void NodeVolumeLimits::OnNodeAdded(NodeRow row) {
  GrowTo(context_.nodes().rows());
  const std::string& name = context_.nodes().name(row);
  const auto found = attached_.find(name);
  attachments_[row] = found == attached_.end() ? 0 : static_cast<int32_t>(found->second.size());
  SetLimits(row, context_.objects.csi_nodes.Find(name));
}

void NodeVolumeLimits::OnNodeRemoved(NodeRow row) {
  attachments_[row] = 0;
  SetLimits(row, nullptr);
}

void NodeVolumeLimits::OnPodAdded(const PodInfo& pod) {
  GrowTo(context_.nodes().rows());
  if (pod.shape->has_claims) claims_[pod.row] += static_cast<int32_t>(ClaimsOf(*pod.pod).size());
}

void NodeVolumeLimits::OnPodRemoved(const PodInfo& pod) {
  if (pod.shape->has_claims) claims_[pod.row] -= static_cast<int32_t>(ClaimsOf(*pod.pod).size());
}

// ---- Volumes

void NodeVolumeLimits::AddVolumes(const kube::Pod& pod, Volumes& volumes) const {
  const ClusterObjects& objects = context_.objects;
  for (const PodClaim& each : ClaimsOf(pod)) {
    const auto* claim = objects.persistent_volume_claims.Find(each.key);
    if (claim == nullptr) continue;
    if (!claim->spec.volume_name.empty()) {
      const auto* volume = objects.persistent_volumes.Find(claim->spec.volume_name);
      if (volume != nullptr) {
        if (volume->spec.csi)
          volumes.emplace(volume->spec.csi->driver, volume->spec.csi->volume_handle);
        continue;
      }
    }
    const auto* storage_class = objects.storage_classes.Find(ClassOf(*claim));
    if (storage_class == nullptr) continue;
    volumes.emplace(storage_class->provisioner,
                    fmt::format("{}-{}", storage_class->provisioner, each.key.ToString()));
  }
}

NodeVolumeLimits::Volumes NodeVolumeLimits::VolumesOn(const RowView& row) const {
  Volumes volumes;
  row.ForEachPod(context_.nodes(), [&](const PodInfo& pod) {
    if (pod.shape->has_claims) AddVolumes(*pod.pod, volumes);
  });
  const auto attached = attached_.find(context_.nodes().name(row.row));
  if (attached == attached_.end()) return volumes;
  for (const auto& [driver, name] : attached->second) {
    const auto* volume = context_.objects.persistent_volumes.Find(name);
    if (volume == nullptr || !volume->spec.csi) continue;
    volumes.emplace(volume->spec.csi->driver, volume->spec.csi->volume_handle);
  }
  return volumes;
}

// ---- Decisions

uint64_t NodeVolumeLimits::VersionFor(const PodShape& shape) const {
  if (!shape.has_claims) return 0;
  const ClusterObjects& objects = context_.objects;
  return objects.persistent_volume_claims.version() + objects.persistent_volumes.version() +
         objects.storage_classes.version();
}

std::unique_ptr<PluginState> NodeVolumeLimits::Compile(const PodShape& shape) {
  if (!shape.has_claims) return nullptr;
  Volumes volumes;
  AddVolumes(*shape.sample, volumes);
  if (volumes.empty()) return nullptr;
  auto state = std::make_unique<State>();
  for (const Volume& volume : volumes) {  // by driver
    if (state->needs.empty() || state->needs.back().driver->name != volume.first) {
      state->needs.push_back({DriverOf(volume.first), {}});
    }
    state->needs.back().volumes.push_back(volume);
  }
  return state;
}

PreFilterResult NodeVolumeLimits::PreFilter(PodQuery& query) {
  return query.has_state(slot()) ? PreFilterResult::Success() : PreFilterResult::Skip();
}

bool NodeVolumeLimits::Fits(const State& state, const RowView& row) const {
  const Volumes present = VolumesOn(row);
  return std::ranges::all_of(state.needs, [&](const State::Need& need) {
    const int32_t limit = need.driver->limits[row.row];
    if (limit == kUnlimited) return true;
    const auto added = std::ranges::count_if(
        need.volumes, [&](const Volume& volume) { return !present.contains(volume); });
    if (added == 0) return true;
    const auto attached = std::ranges::count(present, need.driver->name, &Volume::first);
    return attached + added <= limit;
  });
}

void NodeVolumeLimits::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  if (!query.has_state(slot())) return;
  const State& state = query.state<State>(slot());
  for (const State::Need& need : state.needs) {
    const auto added = static_cast<int32_t>(need.volumes.size());
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      const int32_t limit = need.driver->limits[row];
      if (limit == kUnlimited || claims_[row] + attachments_[row] + added <= limit) continue;
      if (keep[row - rows.begin] && !Fits(state, {row})) keep[row - rows.begin] = 0;
    }
  }
}

RowVerdict NodeVolumeLimits::Check(const PodQuery& query, const RowView& row) {
  if (!query.has_state(slot()) || Fits(query.state<State>(slot()), row)) return {};
  return RowVerdict::Unschedulable(exceeded_);
}

bool NodeVolumeLimits::Wants(EventKind kind) const { return MayFreeVolumes(kind); }

}  // namespace koord::scheduler
