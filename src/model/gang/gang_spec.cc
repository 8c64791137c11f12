#include "model/gang/gang_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/keys.h"
#include "base/duration.h"
#include "base/strings.h"

namespace koord::model {
namespace {

using kube::ValueOf;

constexpr size_t kQuoted = 64;  // bytes of what users wrote that a message repeats

// An int32 that is not negative.
std::optional<int32_t> ParseCount(std::string_view text) {
  const std::optional<int64_t> number = ParseInt(text);
  if (!number || *number < 0 || *number > std::numeric_limits<int32_t>::max()) return {};
  return static_cast<int32_t>(*number);
}

// Reads what pods and PodGroups say in the same annotations.
class Reader {
 public:
  Reader(const kube::ObjectMeta& meta, std::string own_id, GangSpec& spec)
      : annotations_(meta.annotations), own_id_(std::move(own_id)), spec_(spec) {
    spec.created = meta.creation_timestamp;
  }

  void ReadTotal() {
    const std::string_view text = ValueOf(annotations_, api::kAnnotationGangTotalNumber);
    const std::optional<int32_t> total = text.empty() ? 0 : ParseCount(text);
    spec_.total = std::max(total.value_or(0), spec_.min);
    if (!total || (*total != 0 && *total < spec_.min)) {
      Object(api::kAnnotationGangTotalNumber, text, "a number of at least the minimum",
             fmt::format("{}", spec_.min));
    }
  }

  void ReadMode() {
    const std::string_view text = ValueOf(annotations_, api::kAnnotationGangMode);
    if (text == api::kGangModeNonStrict) spec_.mode = GangMode::kNonStrict;
    if (text.empty() || text == api::kGangModeNonStrict || text == api::kGangModeStrict) return;
    Object(api::kAnnotationGangMode, text, "Strict or NonStrict", "Strict");
  }

  void ReadPolicy(GangMatchPolicy otherwise) {
    const std::string_view text = api::GangMatchPolicyOf(annotations_);
    const std::optional<GangMatchPolicy> policy = ParseGangMatchPolicy(text);
    spec_.policy = policy.value_or(otherwise);
    if (policy || text.empty()) return;
    Object(api::kAnnotationGangMatchPolicy, text,
           "only-waiting, waiting-and-running or once-satisfied", ToString(otherwise));
  }

  void ReadWait(Duration otherwise) {
    const std::string_view text = ValueOf(annotations_, api::kAnnotationGangWaitingTime);
    spec_.wait = otherwise;
    if (text.empty()) return;
    const StatusOr<Duration> wait = ParseDuration(text);
    if (wait.ok() && *wait > Duration::zero()) {
      spec_.wait = *wait;
    } else {
      Object(api::kAnnotationGangWaitingTime, text, "a duration above 0, like 30s",
             FormatDuration(otherwise));
    }
  }

  void ReadGroup() {
    StatusOr<std::vector<std::string>> read = api::GangGroupsOf(annotations_);
    const bool is_legal = read.ok() && std::ranges::all_of(*read, IsGangId);
    std::vector<std::string> group = is_legal ? *std::move(read) : std::vector<std::string>();
    std::ranges::sort(group);
    group.erase(std::unique(group.begin(), group.end()), group.end());
    const bool has_itself = std::ranges::find(group, own_id_) != group.end();
    if (!is_legal || (!group.empty() && !has_itself)) {
      Object(api::kAnnotationGangGroups, ValueOf(annotations_, api::kAnnotationGangGroups),
             fmt::format("a JSON list of namespace/name with {} in it", own_id_), "itself alone");
    }
    spec_.group = has_itself ? std::move(group) : std::vector<std::string>{own_id_};
  }

  void ReadTopology() {
    auto read = api::NetworkTopologySpecOf(annotations_);
    if (read.ok()) {
      spec_.topology = *std::move(read);
    } else {
      Object(api::kAnnotationGangNetworkTopologySpec,
             ValueOf(annotations_, api::kAnnotationGangNetworkTopologySpec),
             "{\"gatherStrategy\": [...]}", "none");
    }
  }

  void Object(std::string_view field, std::string_view value, std::string_view expected,
              std::string_view instead) {
    spec_.problems.push_back(fmt::format("{}: {} is not {}; what holds is {}", field,
                                         Quote(value, kQuoted), expected, instead));
  }

 private:
  static bool IsGangId(const std::string& text) {
    const size_t slash = text.find('/');
    return slash != std::string::npos && slash != 0 && slash + 1 != text.size() &&
           text.find('/', slash + 1) == std::string::npos;
  }

  const kube::Annotations& annotations_;
  const std::string own_id_;
  GangSpec& spec_;
};

StatusOr<int32_t> MinOf(const kube::ObjectMeta& pod) {
  std::string_view key = api::kLabelPodGroupMinAvailable;
  std::string_view text = ValueOf(pod.labels, key);
  if (text.empty()) {
    key = api::kAnnotationGangMinAvailable;
    text = ValueOf(pod.annotations, key);
  }
  if (text.empty()) return InvalidArgument("missing min available");
  const std::optional<int32_t> min = ParseCount(text);
  if (!min) return InvalidArgument("{}: {} is not a number of pods", key, Quote(text, kQuoted));
  return *min;
}

}  // namespace

std::string_view ToString(GangMode mode) {
  return mode == GangMode::kStrict ? api::kGangModeStrict : api::kGangModeNonStrict;
}

std::string_view ToString(GangMatchPolicy policy) {
  switch (policy) {
    case GangMatchPolicy::kOnlyWaiting:
      return api::kGangMatchOnlyWaiting;
    case GangMatchPolicy::kWaitingAndRunning:
      return api::kGangMatchWaitingAndRunning;
    case GangMatchPolicy::kOnceSatisfied:
      return api::kGangMatchOnceSatisfied;
  }
  return "";
}

std::optional<GangMatchPolicy> ParseGangMatchPolicy(std::string_view text) {
  for (const GangMatchPolicy policy :
       {GangMatchPolicy::kOnlyWaiting, GangMatchPolicy::kWaitingAndRunning,
        GangMatchPolicy::kOnceSatisfied}) {
    if (text == ToString(policy)) return policy;
  }
  return std::nullopt;
}

std::string GangIdOf(const kube::Pod& pod) {
  const std::string_view name = api::GangNameOf(pod.metadata);
  return name.empty() ? std::string() : fmt::format("{}/{}", pod.metadata.ns, name);
}

kube::ObjectKey PodGroupKeyOf(std::string_view gang_id) {
  const size_t slash = gang_id.find('/');
  return {std::string(gang_id.substr(0, slash)), std::string(gang_id.substr(slash + 1))};
}

bool IsOfPodGroup(const kube::Pod& pod) {
  return !ValueOf(pod.metadata.labels, api::kLabelPodGroup).empty();
}

StatusOr<GangSpec> GangSpecOf(const kube::Pod& pod, const GangDefaults& defaults) {
  GangSpec spec;
  ASSIGN_OR_RETURN(spec.min, MinOf(pod.metadata));
  Reader reader(pod.metadata, GangIdOf(pod), spec);
  reader.ReadTotal();
  reader.ReadMode();
  reader.ReadPolicy(defaults.policy);
  reader.ReadWait(defaults.wait);
  reader.ReadGroup();
  reader.ReadTopology();
  return spec;
}

GangSpec GangSpecOf(const api::PodGroup& group, const GangDefaults& defaults) {
  GangSpec spec{.min = group.spec.min_member, .wait = defaults.wait, .from_pod_group = true};
  Reader reader(group.metadata, fmt::format("{}/{}", group.metadata.ns, group.metadata.name), spec);
  if (spec.min < 0) {
    reader.Object("spec.minMember", fmt::format("{}", spec.min), "a number of pods", "0");
    spec.min = 0;
  }
  reader.ReadTotal();
  reader.ReadMode();
  reader.ReadPolicy(defaults.policy);
  reader.ReadGroup();
  reader.ReadTopology();
  if (const auto seconds = group.spec.schedule_timeout_seconds) {
    if (*seconds > 0) {
      spec.wait = std::chrono::seconds(*seconds);
    } else {
      reader.Object("spec.scheduleTimeoutSeconds", fmt::format("{}", *seconds),
                    "a number of seconds above 0", FormatDuration(defaults.wait));
    }
  }
  return spec;
}

std::string GangGroupIdOf(const std::vector<std::string>& sorted_ids) {
  return Join(sorted_ids, ",");
}

}  // namespace koord::model
