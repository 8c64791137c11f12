#include "scheduler/plugins/volume_zone/volume_zone.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "scheduler/volumes/pod_claims.h"

namespace koord::scheduler {
namespace {

// A beta label of a volume also matches the node's current one, two places further.
constexpr std::array<std::string_view, 4> kTopologyLabels{
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

size_t CurrentLabel(size_t label) { return label < 2 ? label + 2 : label; }

std::vector<std::string> SplitZones(std::string_view text) {
  constexpr std::string_view kBetween = "__";
  std::vector<std::string> zones;
  for (size_t end; (end = text.find(kBetween)) != std::string_view::npos;) {
    zones.emplace_back(text.substr(0, end));
    text.remove_prefix(end + kBetween.size());
  }
  zones.emplace_back(text);
  return zones;
}

// The values of a label that are allowed, as numbers of its column; looked at again when there are
// others.
class AllowedValues {
 public:
  explicit AllowedValues(const LabelColumn& column) : column_(column) {}

  bool Has(ValueId id, const std::vector<std::string>& values) {
    if (version_ != column_.version()) LookAt(values);
    return allowed_[id];
  }

 private:
  void LookAt(const std::vector<std::string>& values) {
    version_ = column_.version();
    allowed_.assign(column_.values(), false);
    for (const std::string& value : values) {
      if (const ValueId id = column_.Find(value); id != kNoValue) allowed_[id] = true;
    }
  }

  const LabelColumn& column_;
  std::vector<bool> allowed_;
  uint64_t version_ = 0;
};

struct Zones {
  size_t label;
  std::vector<std::string> values;
  AllowedValues own, current;
};

}  // namespace

struct VolumeZone::State final : PluginState {
  std::vector<Zones> zones;
};

VolumeZone::VolumeZone(const PluginContext& context)
    : objects_(context.objects),
      mismatch_(context.reasons.Intern("node(s) had no available volume zone")) {
  for (size_t i = 0; i < kLabels; ++i) columns_[i] = context.nodes().Label(kTopologyLabels[i]);
}

uint64_t VolumeZone::VersionFor(const PodShape& shape) const {
  if (!shape.has_claims) return 0;
  return objects_.persistent_volume_claims.version() + objects_.persistent_volumes.version();
}

std::unique_ptr<PluginState> VolumeZone::Compile(const PodShape& shape) {
  if (!shape.has_claims) return nullptr;
  auto state = std::make_unique<State>();
  for (const PodClaim& each : ClaimsOf(*shape.sample)) {
    const auto* claim = objects_.persistent_volume_claims.Find(each.key);
    const auto* volume = claim == nullptr ? nullptr : VolumeOf(*claim, objects_);
    if (volume == nullptr) continue;  // VolumeBinding says what is wrong
    for (size_t i = 0; i < kLabels; ++i) {
      const std::string* value = kube::FindValue(volume->metadata.labels, kTopologyLabels[i]);
      if (value == nullptr) continue;
      state->zones.push_back({i, SplitZones(*value), AllowedValues(*columns_[i]),
                              AllowedValues(*columns_[CurrentLabel(i)])});
    }
  }
  if (state->zones.empty()) return nullptr;
  return state;
}

PreFilterResult VolumeZone::PreFilter(PodQuery& query) {
  return query.has_state(slot()) ? PreFilterResult::Success() : PreFilterResult::Skip();
}

bool VolumeZone::Fits(State& state, NodeRow row) const {
  const auto has_label = [&](const LabelPtr& column) { return column->At(row) != kNoValue; };
  if (std::ranges::none_of(columns_, has_label)) return true;
  return std::ranges::all_of(state.zones, [&](Zones& zones) {
    const ValueId own = columns_[zones.label]->At(row);
    if (own != kNoValue) return zones.own.Has(own, zones.values);
    return zones.current.Has(columns_[CurrentLabel(zones.label)]->At(row), zones.values);
  });
}

void VolumeZone::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  if (!query.has_state(slot())) return;
  State& state = query.state<State>(slot());
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    if (!Fits(state, row)) keep[row - rows.begin] = 0;
  }
}

RowVerdict VolumeZone::Check(const PodQuery& query, const RowView& row) {
  if (!query.has_state(slot()) || Fits(query.state<State>(slot()), row.row)) return {};
  return RowVerdict::Unresolvable(mismatch_);
}

bool VolumeZone::Wants(EventKind kind) const { return MayFreeVolumes(kind); }

}  // namespace koord::scheduler
