#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "api/cpu_annotations.h"
#include "api/device_annotations.h"
#include "api/extended_resources.h"
#include "api/gang.h"
#include "api/keys.h"
#include "api/koordlet_annotations.h"
#include "api/node_annotations.h"
#include "api/pod_annotations.h"
#include "api/reservation_annotations.h"
#include "base/duration.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "cli/validation/object_rules.h"
#include "manager/config/strategies.h"

namespace koord::validation {
namespace {

using kube::ConfigDocument;
using kube::ConfigField;

// Says what is wrong with the text of a key; nothing if it is right.
using TextCheck = std::function<std::optional<std::string>(std::string_view)>;

TextCheck OneOf(std::vector<std::string_view> allowed) {
  return [allowed = std::move(allowed)](std::string_view text) -> std::optional<std::string> {
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return std::nullopt;
    return fmt::format("{} is not one of {}", Quote(text, 64), koord::Join(allowed, ", "));
  };
}

TextCheck Integer(int64_t least, int64_t most) {
  return [=](std::string_view text) -> std::optional<std::string> {
    const auto number = ParseInt(text);
    if (number && *number >= least && *number <= most) return std::nullopt;
    return fmt::format("{} is not a whole number from {} to {}", Quote(text, 64), least, most);
  };
}

std::optional<std::string> Boolean(std::string_view text) {
  if (ParseBool(text)) return std::nullopt;
  return fmt::format("{} is neither true nor false", Quote(text, 64));
}

std::optional<std::string> DurationText(std::string_view text) {
  const auto parsed = ParseDuration(text);
  if (parsed.ok()) return std::nullopt;
  return fmt::format("{} is not a duration such as 30s or 5m", Quote(text, 64));
}

std::optional<std::string> QuantityText(std::string_view text) {
  const auto parsed = kube::Quantity::Parse(text);
  if (parsed.ok()) return std::nullopt;
  return fmt::format("{} is not a quantity such as 10G", Quote(text, 64));
}

std::optional<std::string> Ratio(std::string_view text) {
  const kube::Labels labels{{"x", std::string(text)}};
  if (api::RatioPercentOf(labels, "x")) return std::nullopt;
  return fmt::format("{} is not a ratio such as 0.65, and is ignored", Quote(text, 64));
}

std::optional<std::string> NormalizationRatio(std::string_view text) {
  const kube::Annotations annotations{
      {std::string(api::kAnnotationCpuNormalizationRatio), std::string(text)}};
  const auto ratio = api::CpuNormalizationRatioOf(annotations);
  if (!ratio.ok()) return std::string(Message(ratio.status()));
  if (**ratio >= manager::kLeastCpuRatio && **ratio <= manager::kMostCpuRatio) return std::nullopt;
  return fmt::format("{} is not between {} and {}", Quote(text, 64), manager::kLeastCpuRatio,
                     manager::kMostCpuRatio);
}

using JsonCheck = std::function<void(ConfigDocument&)>;

// A document of this type: no unknown members, nothing of the wrong type.
template <class T>
JsonCheck Typed() {
  return [](ConfigDocument& document) {
    document.IgnoreCase();
    T value{};
    kube::DecodeStrict(document.value(), value, ConfigField(document));
  };
}

struct KeyRule {
  TextCheck text = {};
  JsonCheck json = {};
};

using KeyRules = std::map<std::string_view, KeyRule>;

const KeyRules& PodLabels() {
  static const KeyRules kRules{
      {api::kLabelQosClass, {.text = OneOf({"LSE", "LSR", "LS", "BE", "SYSTEM"})}},
      {api::kLabelPriority, {.text = Integer(INT32_MIN, INT32_MAX)}},
      {api::kLabelPriorityClass,
       {.text = OneOf({"koord-prod", "koord-mid", "koord-batch", "koord-free"})}},
      {api::kLabelPreemptionPolicy, {.text = OneOf({"Never", "PreemptLowerPriority"})}},
      {api::kLabelEvictionEnabled, {.text = Boolean}},
      {api::kLabelCoreSchedPolicy, {.text = OneOf({"none", "exclusive"})}},
      {api::kLabelOperatingMode, {.text = OneOf({"Runnable", "Reservation"})}},
      {api::kLabelQuotaPreemptible, {.text = Boolean}},
      {"runtimeproxy.koordinator.sh/skip-hookserver", {.text = Boolean}},
  };
  return kRules;
}

const KeyRules& PodAnnotations() {
  static const KeyRules kRules{
      {api::kAnnotationResourceSpec, {.json = Typed<api::ResourceSpec>()}},
      {api::kAnnotationNumaTopologySpec, {.json = Typed<api::NumaTopologySpec>()}},
      {api::kAnnotationReservationAffinity, {.json = Typed<api::ReservationAffinity>()}},
      {api::kAnnotationDeviceJointAllocate, {.json = Typed<api::DeviceJointAllocate>()}},
      {api::kAnnotationDeviceAllocateHint,
       {.json = Typed<std::map<std::string, api::DeviceHint, std::less<>>>()}},
      {api::kAnnotationCpuBurst, {.json = Typed<api::CpuBurstConfig>()}},
      {api::kAnnotationCpuQos, {.json = Typed<api::CpuQos>()}},
      {api::kAnnotationMemoryQos, {.json = Typed<api::PodMemoryQos>()}},
      {api::kAnnotationResctrl, {.json = Typed<api::PodResctrl>()}},
      {api::kAnnotationEvictionPolicy, {.json = Typed<std::vector<std::string>>()}},
      {api::kAnnotationEvictionPriority, {.text = Integer(INT32_MIN, INT32_MAX)}},
      {api::kAnnotationOomScoreAdj, {.text = Integer(-1000, 1000)}},
      {api::kAnnotationEvictionCost, {.text = Integer(INT32_MIN, INT32_MAX)}},
      {api::kAnnotationGangMinAvailable, {.text = Integer(1, INT32_MAX)}},
      {api::kAnnotationGangTotalNumber, {.text = Integer(1, INT32_MAX)}},
      {api::kAnnotationGangWaitingTime, {.text = DurationText}},
      {api::kAnnotationGangMode, {.text = OneOf({"Strict", "NonStrict"})}},
      {api::kAnnotationGangMatchPolicy,
       {.text = OneOf({"only-waiting", "waiting-and-running", "once-satisfied"})}},
      {api::kAnnotationGangGroups, {.json = Typed<std::vector<std::string>>()}},
  };
  return kRules;
}

const KeyRules& NodeLabels() {
  static const KeyRules kRules{
      {api::kLabelNodeCpuBindPolicy, {.text = OneOf({"None", "FullPCPUsOnly", "SpreadByPCPUs"})}},
      {api::kLabelNodeNumaAllocateStrategy,
       {.text = OneOf({"MostAllocated", "LeastAllocated", "DistributeEvenly"})}},
      {api::kLabelNodeNumaTopologyPolicy,
       {.text = OneOf({"", "BestEffort", "Restricted", "SingleNUMANode"})}},
      {api::kLabelCpuNormalizationEnabled, {.text = Boolean}},
      {api::kLabelCpuReclaimRatio, {.text = Ratio}},
      {api::kLabelMemoryReclaimRatio, {.text = Ratio}},
      {api::kLabelMidStaticCpuReservedRatio, {.text = Ratio}},
      {api::kLabelMidStaticMemoryReservedRatio, {.text = Ratio}},
  };
  return kRules;
}

const KeyRules& NodeAnnotations() {
  static const KeyRules kRules{
      {api::kAnnotationNodeReservation, {.json = Typed<api::NodeReservation>()}},
      {api::kAnnotationSystemQosResource, {.json = Typed<api::SystemQosResource>()}},
      {api::kAnnotationColocationStrategy, {.json = Typed<manager::ColocationStrategy>()}},
      {api::kAnnotationCpuNormalizationRatio, {.text = NormalizationRatio}},
      {api::kAnnotationResourceAmplificationRatio, {.json = Typed<api::AmplificationRatios>()}},
      {api::kAnnotationNetworkBandwidth, {.text = QuantityText}},
      {api::kAnnotationUsageThresholds, {.json = Typed<api::UsageThresholds>()}},
  };
  return kRules;
}

// Whether whoever wrote the key meant one of those that have a meaning. What the local cluster is
// told about its nodes and pods is its own affair.
bool IsOurs(std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  if (domain == "local.koordinator.sh") return false;
  return domain == "koordinator.sh" || domain.ends_with(".koordinator.sh");
}

// What the author of an unknown key most likely meant: another name in the same domain, or the same
// name in another. Both at once would be guessing, since all domains look alike.
std::optional<std::string> MeantKey(std::string_view key, const std::vector<std::string>& all) {
  const std::string_view domain = key.substr(0, key.find('/'));
  const std::string_view name = key.substr(std::min(key.size(), domain.size() + 1));
  std::vector<std::string> names, domains;
  for (const std::string_view known : all) {
    const std::string_view its_domain = known.substr(0, known.find('/'));
    const std::string_view its_name = known.substr(std::min(known.size(), its_domain.size() + 1));
    if (its_domain == domain) names.emplace_back(its_name);
    if (its_name == name) domains.emplace_back(its_domain);
  }
  if (const auto meant = Suggest(name, names)) return fmt::format("{}/{}", domain, *meant);
  if (const auto meant = Suggest(domain, domains)) return fmt::format("{}/{}", *meant, name);
  return std::nullopt;
}

void CheckMember(const Manifest& manifest, const std::string& path, const kube::json::object& keys,
                 const KeyRules& rules, const std::vector<std::string>& all, Findings& findings) {
  for (const auto& [name, value] : keys) {
    const std::string key(name);
    if (!value.is_string()) continue;
    const std::string_view text = value.get_string();
    const std::string at = JoinPath(path, key);
    const auto rule = rules.find(key);
    if (rule == rules.end()) {
      if (!IsOurs(key) || std::find(all.begin(), all.end(), key) != all.end()) continue;
      if (const auto meant = MeantKey(key, all)) {
        findings.Warning(manifest, at, "unknown key (did you mean {}?)", *meant);
      }
      continue;
    }
    if (rule->second.text) {
      if (const auto wrong = rule->second.text(text)) findings.Error(manifest, at, "{}", *wrong);
    } else if (!text.empty()) {
      findings.CheckText(manifest, at, text, rule->second.json);
    }
  }
}

}  // namespace

namespace {

const std::vector<std::string>& AllKeys() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (const std::string_view key : {api::kLabelQosClass,
                                       api::kLabelPriority,
                                       api::kLabelPriorityClass,
                                       api::kLabelPreemptionPolicy,
                                       api::kLabelDisablePreemptible,
                                       api::kLabelMutatingUpdate,
                                       api::kLabelSkipEnhancedValidation,
                                       api::kLabelBindingAdmissionBypass,
                                       api::kLabelSchedulerName,
                                       api::kAnnotationOriginalSchedulerName,
                                       api::kAnnotationReplaceResources,
                                       api::kAnnotationExtendedResourceSpec,
                                       api::kAnnotationResourceSpec,
                                       api::kAnnotationNumaTopologySpec,
                                       api::kAnnotationResourceStatus,
                                       api::kLabelNodeCpuBindPolicy,
                                       api::kLabelNodeNumaAllocateStrategy,
                                       api::kLabelNodeNumaTopologyPolicy,
                                       api::kLabelEnableNumaReservation,
                                       api::kAnnotationNodeReservation,
                                       api::kAnnotationSystemQosResource,
                                       api::kAnnotationReservationAffinity,
                                       api::kAnnotationReservationAllocated,
                                       api::kLabelReservation,
                                       api::kLabelReservationIgnored,
                                       api::kLabelReservationOrder,
                                       api::kAnnotationReservationRestrictedOptions,
                                       api::kAnnotationExactMatchReservation,
                                       api::kLabelPreAllocationRequired,
                                       api::kLabelPreAllocatable,
                                       api::kAnnotationPreAllocatablePriority,
                                       api::kLabelOperatingMode,
                                       api::kAnnotationReservationOwners,
                                       api::kAnnotationReservationCurrentOwner,
                                       api::kAnnotationReservationResizeAllocatable,
                                       api::kAnnotationReservePod,
                                       api::kAnnotationReservationName,
                                       api::kAnnotationReservationNode,
                                       api::kAnnotationIsPreAllocation,
                                       api::kAnnotationDeviceAllocated,
                                       api::kAnnotationDeviceAllocateHint,
                                       api::kAnnotationDeviceJointAllocate,
                                       api::kAnnotationGpuPartitionSpec,
                                       api::kAnnotationGpuPartitions,
                                       api::kLabelGpuPartitionPolicy,
                                       api::kLabelSecondaryDeviceWellPlanned,
                                       api::kLabelGpuVendor,
                                       api::kLabelGpuModel,
                                       api::kLabelGpuDriverVersion,
                                       api::kLabelGpuIsolationProvider,
                                       api::kAnnotationBindTimestamp,
                                       api::kAnnotationGpuMinors,
                                       api::kAnnotationCpuTopology,
                                       api::kAnnotationPodCpuAllocs,
                                       api::kAnnotationCpuSharedPools,
                                       api::kAnnotationBeCpuSharedPools,
                                       api::kAnnotationKubeletCpuManagerPolicy,
                                       api::kAnnotationCpuBasicInfo,
                                       api::kAnnotationCpuNormalizationRatio,
                                       api::kLabelCpuNormalizationEnabled,
                                       api::kAnnotationResourceAmplificationRatio,
                                       api::kAnnotationRawAllocatable,
                                       api::kAnnotationColocationStrategy,
                                       api::kLabelCpuReclaimRatio,
                                       api::kLabelMemoryReclaimRatio,
                                       api::kLabelMidStaticCpuReservedRatio,
                                       api::kLabelMidStaticMemoryReservedRatio,
                                       api::kAnnotationOriginExtendedAllocatable,
                                       api::kAnnotationThirdPartyAllocations,
                                       api::kAnnotationNetworkBandwidth,
                                       api::kAnnotationUsageThresholds,
                                       api::kLabelQuotaName,
                                       api::kLabelQuotaPreemptible,
                                       api::kLabelQuotaIsParent,
                                       api::kLabelQuotaParent,
                                       api::kLabelQuotaIsRoot,
                                       api::kLabelQuotaTreeId,
                                       api::kLabelQuotaAllowLentResource,
                                       api::kLabelQuotaIgnoreDefaultTree,
                                       api::kLabelQuotaProfile,
                                       api::kLabelQuotaAllowForceUpdate,
                                       api::kAnnotationQuotaSharedWeight,
                                       api::kAnnotationQuotaNamespaces,
                                       api::kAnnotationQuotaTotalResource,
                                       api::kAnnotationQuotaUnschedulableResource,
                                       api::kAnnotationQuotaResourceKeys,
                                       api::kAnnotationQuotaRuntime,
                                       api::kAnnotationQuotaRequest,
                                       api::kAnnotationQuotaChildRequest,
                                       api::kAnnotationQuotaGuaranteed,
                                       api::kAnnotationQuotaAllocated,
                                       api::kAnnotationQuotaNonPreemptibleRequest,
                                       api::kAnnotationQuotaNonPreemptibleUsed,
                                       api::kAnnotationQuotaAdmission,
                                       api::kAnnotationQuotaMaxStrictCheckResourceKeys,
                                       api::kAnnotationGangName,
                                       api::kAnnotationGangMinAvailable,
                                       api::kAnnotationGangWaitingTime,
                                       api::kAnnotationGangTotalNumber,
                                       api::kAnnotationGangMode,
                                       api::kAnnotationGangGroups,
                                       api::kAnnotationGangMatchPolicy,
                                       api::kAnnotationGangTimeout,
                                       api::kAnnotationGangNetworkTopologySpec,
                                       api::kAnnotationGangNetworkTopologyIndex,
                                       api::kAnnotationNetworkTopologySelector,
                                       api::kAnnotationBindGangGroupId,
                                       api::kAnnotationDeprecatedBindGangGroupId,
                                       api::kAnnotationBindGangMemberCount,
                                       api::kAnnotationDeprecatedBindGangMemberCount,
                                       api::kAnnotationSchedulingHint,
                                       api::kAnnotationDeprecatedSchedulingHint,
                                       api::kLabelQuestionedObjectKey,
                                       api::kLabelTopologyKeyToExplain,
                                       api::kAnnotationLoadEstimatedScalingFactors,
                                       api::kAnnotationLoadEstimatedSecondsAfterPodScheduled,
                                       api::kAnnotationLoadEstimatedSecondsAfterInitialized,
                                       api::kAnnotationCpuBurst,
                                       api::kAnnotationCpuQos,
                                       api::kAnnotationMemoryQos,
                                       api::kAnnotationBlkioQos,
                                       api::kAnnotationNetworkQos,
                                       api::kAnnotationResctrl,
                                       api::kLabelCoreSchedGroupId,
                                       api::kLabelCoreSchedPolicy,
                                       api::kLabelEvictionEnabled,
                                       api::kAnnotationEvictionPolicy,
                                       api::kAnnotationEvictionPriority,
                                       api::kAnnotationOomScoreAdj,
                                       api::kAnnotationOomScoreAdjSpec,
                                       api::kAnnotationEvictionCost,
                                       api::kAnnotationSoftEviction,
                                       api::kLabelEvictPolicy,
                                       api::kAnnotationEvictReason,
                                       api::kAnnotationEvictTrigger,
                                       api::kAnnotationJobCreatedBy,
                                       api::kAnnotationPassedArbitration,
                                       api::kAnnotationPodArbitrating,
                                       api::kLabelConfigMapType,
                                       api::kLabelProfileControllerManaged,
                                       api::kAnnotationProfileSkipUpdateResources}) {
      all.emplace_back(key);
    }
    return all;
  }();
  return kAll;
}

}  // namespace

void CheckKeys(const Manifest& manifest, const std::string& metadata, KeysOf of,
               Findings& findings) {
  static const KeyRules kNoRules;
  const std::vector<std::string>& all = AllKeys();
  const kube::Json* holder = &manifest.value();
  for (const std::string_view step : Split(metadata, '.')) {
    holder = holder == nullptr ? nullptr : kube::Find(*holder, {step});
  }
  if (holder == nullptr) return;
  const auto rules = [&](const KeyRules& pod, const KeyRules& node) -> const KeyRules& {
    if (of == KeysOf::kPod) return pod;
    return of == KeysOf::kNode ? node : kNoRules;
  };
  if (const auto* labels = kube::FindObject(*holder, {"labels"})) {
    CheckMember(manifest, JoinPath(metadata, "labels"), *labels, rules(PodLabels(), NodeLabels()),
                all, findings);
  }
  if (const auto* annotations = kube::FindObject(*holder, {"annotations"})) {
    CheckMember(manifest, JoinPath(metadata, "annotations"), *annotations,
                rules(PodAnnotations(), NodeAnnotations()), all, findings);
  }
}

}  // namespace koord::validation
