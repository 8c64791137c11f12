#include "cli/validation/object_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/annotation_codec.h"
#include "api/cluster_colocation_profile.h"
#include "api/cpu_annotations.h"
#include "api/elastic_quota.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "api/node_slo.h"
#include "api/priority.h"
#include "api/qos.h"
#include "api/setting_rules.h"
#include "api/unsupported.h"
#include "base/cpu_set.h"
#include "base/duration.h"
#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/names.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "manager/config/strategies.h"
#include "manager/noderesource/node_problems.h"
#include "manager/profile/profile.h"
#include "manager/quota/quota_topology.h"
#include "manager/webhook/pod/pod_validating.h"

namespace koord::validation {
namespace {

using kube::Json;
namespace json = kube::json;

// "labels.x" of the webhooks' errors as it stands in the object, below where its pod is.
std::string PathInObject(std::string_view field, const std::string& pod_path) {
  for (const auto& [start, written] :
       {std::pair<std::string_view, std::string_view>{"labels.", "metadata.labels."},
        {"annotations.", "metadata.annotations."},
        {"pod.spec.containers[*]", "spec.containers"}}) {
    if (field.starts_with(start)) {
      return JoinPath(pod_path, fmt::format("{}{}", written, field.substr(start.size())));
    }
  }
  return JoinPath(pod_path, field == "Pod" ? "metadata.labels" : field);
}

// What the webhook would say, at the place that it speaks of.
void ReportFieldErrors(const Manifest& manifest, const std::string& pod_path, const Status& status,
                       Severity severity, std::string_view but, Findings& findings) {
  if (status.ok()) return;
  std::string_view text = Message(status);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const size_t colon = text.find(": ");
  const bool placed =
      colon != std::string_view::npos && text.substr(0, colon).find(' ') == std::string_view::npos;
  findings.Add(severity, manifest, PathInObject(placed ? text.substr(0, colon) : "", pod_path),
               fmt::format("{}{}", placed ? text.substr(colon + 2) : text, but));
}

// The number that the API server puts behind the names of the usual classes.
std::optional<int32_t> UsualPriority(std::string_view name) {
  if (name == "koord-prod") return 9000;
  if (name == "koord-mid") return 7000;
  if (name == "koord-batch") return 5000;
  if (name == "koord-free") return 3000;
  return std::nullopt;
}

// Of "label NAME has no effect ...": where that stands in the pod.
std::string PlaceOfRequest(const Json& pod, std::string_view sentence) {
  const auto words = Split(sentence, ' ');
  const std::string_view what = words[0], name = words[1];
  if (what != "resource") return fmt::format("metadata.{}s.{}", what, name);
  for (const char* list : {"containers", "initContainers"}) {
    const json::array* containers = kube::FindArray(pod, {"spec", list});
    for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      for (const char* member : {"requests", "limits"}) {
        if (kube::Find((*containers)[i], {"resources", member, name}) == nullptr) continue;
        return fmt::format("spec.{}[{}].resources.{}.{}", list, i, member, name);
      }
    }
  }
  return "spec.containers";
}

void WarnOfNoEffect(const Manifest& manifest, const kube::Pod& pod, const Json& value,
                    const std::string& path, Findings& findings) {
  for (const std::string& sentence : api::UnsupportedRequestsOf(pod)) {
    findings.Warning(manifest, JoinPath(path, PlaceOfRequest(value, sentence)), "{}", sentence);
  }
}

// Annotations that are the scheduler's word to nodes are refused from whoever applies manifests.
Status CheckAuthor(const kube::Pod& pod) {
  manager::webhook::Request request;
  request.operation = manager::webhook::Operation::kCreate;
  request.user.name = "you";
  manager::webhook::FieldErrors errors;
  manager::webhook::CheckSchedulerKeys(request, pod.metadata.annotations, nullptr, {}, errors,
                                       nullptr);
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors.ToString());
}

Status CheckReserved(const kube::Pod& pod) {
  manager::webhook::FieldErrors errors;
  manager::webhook::CheckReservedAnnotations(pod.metadata.annotations, errors);
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors.ToString());
}

void CheckPod(const Manifest& manifest, const Json& value, const std::string& path,
              Findings& findings) {
  CheckKeys(manifest, JoinPath(path, "metadata"), KeysOf::kPod, findings);
  auto pod = kube::Decode<kube::Pod>(value);
  if (!pod.ok()) return;  // the API server has said it
  WarnOfNoEffect(manifest, *pod, value, path, findings);
  const std::string& class_name = pod->spec.priority_class_name;
  if (!pod->spec.priority) pod->spec.priority = UsualPriority(class_name);
  ReportFieldErrors(manifest, path, CheckReserved(*pod), Severity::kError, "", findings);
  ReportFieldErrors(manifest, path, CheckAuthor(*pod), Severity::kError, "", findings);
  // Profiles may still set what is not said.
  const bool is_open =
      !pod->spec.priority && !pod->metadata.labels.contains(api::kLabelPriorityClass);
  const bool is_unknown = is_open && !class_name.empty();
  if (!is_unknown) {
    ReportFieldErrors(manifest, path, manager::webhook::CheckColocation(*pod, nullptr, {}),
                      is_open ? Severity::kWarning : Severity::kError,
                      is_open ? "; the pod is refused unless a ClusterColocationProfile sets what "
                                "is missing"
                              : "",
                      findings);
  }
  ReportFieldErrors(manifest, path, manager::webhook::CheckDevices(*pod), Severity::kWarning,
                    "; such a pod is never placed", findings);
}

// Where the pods of a kind are described.
std::optional<std::string> PodPathOf(const Manifest& manifest) {
  if (manifest.kind() == "Pod" && manifest.api_version() == "v1") return "";
  const bool is_cron = manifest.kind() == "CronJob";
  const Json* found =
      is_cron ? kube::Find(manifest.value(), {"spec", "jobTemplate", "spec", "template"})
              : kube::Find(manifest.value(), {"spec", "template"});
  if (found == nullptr || kube::FindObject(*found, {"spec"}) == nullptr) return std::nullopt;
  return is_cron ? "spec.jobTemplate.spec.template" : "spec.template";
}

const Json& PodAt(const Manifest& manifest, const std::string& path) {
  const Json* at = &manifest.value();
  if (!path.empty()) {
    for (const std::string_view step : Split(path, '.')) at = kube::Find(*at, {step});
  }
  return *at;
}

// More than there is cannot be reserved.
void CheckReservation(const Manifest& manifest, const kube::Node& node, Findings& findings) {
  const std::string path = fmt::format("metadata.annotations.{}", api::kAnnotationNodeReservation);
  const auto reservation = api::NodeReservationOf(node.metadata.annotations);
  if (!reservation.ok()) {
    if (!manifest.value().as_object().empty()) {
      findings.Error(manifest, path, "{}", Message(reservation.status()));
    }
    return;
  }
  if (!*reservation) return;
  const auto exceeds = [&](const std::string& name, const kube::Quantity& amount) {
    const auto there = node.status.capacity.find(name);
    if (there == node.status.capacity.end() || amount <= there->second) return;
    findings.Error(manifest, path, "reserves {} of {}, of which the node has {}", amount.ToString(),
                   name, there->second.ToString());
  };
  for (const auto& [name, amount] : (*reservation)->resources) exceeds(name, amount);
  const std::string& cpus = (*reservation)->reserved_cpus;
  if (cpus.empty()) return;
  const auto list = CpuSet::Parse(cpus);
  if (!list.ok()) {
    return findings.Error(manifest, path, "reservedCPUs: {}", Message(list.status()));
  }
  exceeds("cpu", kube::Quantity(static_cast<int64_t>(list->size())));
}

void CheckNode(const Manifest& manifest, Findings& findings) {
  const auto node = kube::Decode<kube::Node>(manifest.value());
  if (!node.ok()) return;
  CheckReservation(manifest, *node, findings);
  for (const std::string& problem : manager::AmplificationProblemsOf(*node)) {
    findings.Error(
        manifest,
        fmt::format("metadata.annotations.{}", api::kAnnotationResourceAmplificationRatio), "{}",
        problem);
  }
  const auto own = api::ReadNonEmptyAnnotation<manager::ColocationStrategy>(
      node->metadata.annotations, api::kAnnotationColocationStrategy);
  if (!own.ok() || !*own) return;
  const std::string path =
      fmt::format("metadata.annotations.{}", api::kAnnotationColocationStrategy);
  for (const api::BrokenRule& broken : api::BrokenRulesOf(
           api::StrategyKind::kColocation, kube::Encode(**own), api::StrategyState::kWritten)) {
    findings.Error(manifest, JoinPath(path, broken.Path()), "{}", broken.Description());
  }
}

// koordlet leaves out what makes no sense.
void CheckNodeSlo(const Manifest& manifest, Findings& findings) {
  const auto slo = kube::Decode<api::NodeSlo>(manifest.value());
  if (!slo.ok()) return;
  const Json spec = kube::Encode(slo->spec);
  const std::pair<std::string_view, api::StrategyKind> sections[] = {
      {"resourceUsedThresholdWithBE", api::StrategyKind::kThreshold},
      {"resourceQOSStrategy", api::StrategyKind::kResourceQos},
      {"cpuBurstStrategy", api::StrategyKind::kCpuBurst},
      {"systemStrategy", api::StrategyKind::kSystem}};
  for (const auto& [section, kind] : sections) {
    const Json* strategy = kube::Find(spec, {section});
    if (strategy == nullptr) continue;
    for (const api::BrokenRule& broken :
         api::BrokenRulesOf(kind, *strategy, api::StrategyState::kInForce)) {
      findings.Error(manifest, fmt::format("spec.{}.{}", section, broken.Path()),
                     "{}; koordlet takes the default instead", broken.Description());
    }
  }
}

void CheckProbability(const Manifest& manifest, const api::ClusterColocationProfileSpec& spec,
                      Findings& findings) {
  if (!spec.probability) return;
  const auto percent = spec.probability->Scale(100, kube::IntOrString::Rounding::kFloor);
  if (!percent.ok()) {
    findings.Error(manifest, "spec.probability", "{}; every pod that matches is refused",
                   Message(percent.status()));
  } else if (*percent < 0 || *percent > 100) {
    findings.Error(manifest, "spec.probability",
                   "must be a number from 0 to 100 or a percentage such as 30%, found {}; the "
                   "profile applies to {} pod that matches",
                   kube::Serialize(kube::Encode(*spec.probability)), *percent < 0 ? "no" : "every");
  }
}

// What a profile gives to pods must be what an API server takes: else it refuses them.
void CheckGivenKeys(const Manifest& manifest, const api::ClusterColocationProfileSpec& spec,
                    Findings& findings) {
  const auto check = [&](std::string_view member, std::string_view key, std::string_view given,
                         const std::string& wrong) {
    if (wrong.empty()) return;
    findings.Error(manifest, fmt::format("spec.{}.{}", member, key),
                   "{}: {}; every pod that matches is refused", Quote(given, 64), wrong);
  };
  for (const auto& [key, value] : spec.labels) {
    check("labels", key, key, kube::CheckQualifiedName(key));
    check("labels", key, value, kube::CheckLabelValue(value));
  }
  for (const auto& [key, value] : spec.annotations) {
    check("annotations", key, key, kube::CheckQualifiedName(key));
  }
  for (const auto& [from, to] : spec.label_keys_mapping) {
    check("labelKeysMapping", from, to, kube::CheckQualifiedName(to));
  }
  for (const auto& [from, to] : spec.annotation_keys_mapping) {
    check("annotationKeysMapping", from, to, kube::CheckQualifiedName(to));
  }
  for (const auto& [key, suffix] : spec.label_suffixes) {
    check("labelSuffixes", key, suffix, kube::CheckLabelValue("a" + suffix));
  }
}

void CheckProfile(const Manifest& manifest, Findings& findings) {
  const auto decoded = kube::Decode<api::ClusterColocationProfile>(manifest.value());
  if (!decoded.ok()) return;
  const auto profile = std::make_shared<const api::ClusterColocationProfile>(*decoded);
  if (const auto compiled = manager::Compile(profile); !compiled.ok()) {
    const auto [path, why] = [&] {
      const std::string_view text = Message(compiled.status());
      const size_t colon = text.find(": ");
      return std::pair(text.substr(0, colon), text.substr(colon + 2));
    }();
    findings.Error(manifest, path, "{}; the profile matches nothing", why);
  }
  const auto& spec = profile->spec;
  CheckProbability(manifest, spec, findings);
  CheckGivenKeys(manifest, spec, findings);
  // They become the pod's.
  CheckKeys(manifest, "spec", KeysOf::kPod, findings);
  // What the profile makes of a pod must be allowed by the validating webhook.
  kube::Pod pod;
  if (!spec.qos_class.empty()) {
    pod.metadata.labels.Mutable().emplace(api::kLabelQosClass, spec.qos_class);
  }
  pod.spec.priority = UsualPriority(spec.priority_class_name);
  const bool judged = (spec.qos_class == "BE" || spec.qos_class == "LSR") && pod.spec.priority;
  if (!judged) return;
  const auto band = api::PriorityBandOf(pod);
  const bool clash =
      spec.qos_class == "BE" ? band == api::PriorityBand::kProd : band != api::PriorityBand::kProd;
  if (clash) {
    findings.Error(manifest, "spec.qosClass",
                   "{} and priorityClassName {} cannot be used in combination: every pod that "
                   "matches is refused",
                   spec.qos_class, spec.priority_class_name);
  }
}

void CheckMigrationJob(const Manifest& manifest, Findings& findings) {
  const std::string_view mode = kube::FindString(manifest.value(), {"spec", "mode"});
  if (mode.empty() || mode == "ReservationFirst" || mode == "EvictDirectly") return;
  findings.Error(manifest, "spec.mode", "{} is not one of ReservationFirst, EvictDirectly",
                 Quote(mode, 64));
}

void CheckReservationObject(const Manifest& manifest, Findings& findings) {
  const json::array* owners = kube::FindArray(manifest.value(), {"spec", "owners"});
  for (size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    const Json& owner = (*owners)[i];
    if (owner.is_object() && !owner.get_object().empty()) continue;
    findings.Error(manifest, fmt::format("spec.owners[{}]", i),
                   "says nothing; needs one of object, controller, labelSelector");
  }
  const auto ttl = ParseDuration(kube::FindString(manifest.value(), {"spec", "ttl"}));
  if (ttl.ok() && *ttl == Duration::zero() &&
      kube::Find(manifest.value(), {"spec", "expires"}) != nullptr) {
    findings.Warning(manifest, "spec.expires",
                     "does not count beside a ttl of 0, which is for ever");
  }
}

void CheckQuotaProfile(const Manifest& manifest, Findings& findings) {
  const std::string ratio(kube::FindString(manifest.value(), {"spec", "resourceRatio"}));
  if (ratio.empty()) return;
  char* end = nullptr;
  const double value = std::strtod(ratio.c_str(), &end);
  if (*end == '\0' && value > 0 && value <= 1) return;
  findings.Error(manifest, "spec.resourceRatio",
                 "{} is not a number above 0 and up to 1; it counts as 1", Quote(ratio, 64));
}

struct EnhancedRule {
  std::string name;
  std::vector<std::string> required_labels, namespace_whitelist;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("requiredLabels", self.required_labels);
    field("namespaceWhitelist", self.namespace_whitelist);
  }
};

// What koord-manager asks of pods besides, if that is switched on.
void CheckEnhancedRules(const Manifest& manifest, Findings& findings) {
  const std::string_view text = kube::FindString(manifest.value(), {"data", "rules"});
  if (text.empty()) return;
  findings.CheckText(manifest, "data.rules", text, [](kube::ConfigDocument& document) {
    std::vector<EnhancedRule> rules;
    kube::DecodeStrict(document.value(), rules, kube::ConfigField(document));
  });
}

}  // namespace

void CheckObject(const Manifest& manifest, Findings& findings) {
  const std::string_view kind = manifest.kind();
  const std::string_view version = manifest.api_version();
  if (const auto sentence = api::UnsupportedKind(version.substr(0, version.find('/')), kind)) {
    findings.Warning(manifest, "kind", "{}", *sentence);
  }
  const auto pod_path = PodPathOf(manifest);
  if (pod_path) CheckPod(manifest, PodAt(manifest, *pod_path), *pod_path, findings);
  if (!pod_path || !pod_path->empty()) {
    CheckKeys(manifest, "metadata", kind == "Node" ? KeysOf::kNode : KeysOf::kOther, findings);
  }
  if (kind == "Node") CheckNode(manifest, findings);
  if (kind == "NodeSLO") CheckNodeSlo(manifest, findings);
  if (kind == "ClusterColocationProfile") CheckProfile(manifest, findings);
  if (kind == "PodMigrationJob") CheckMigrationJob(manifest, findings);
  if (kind == "Reservation") CheckReservationObject(manifest, findings);
  if (kind == "ElasticQuotaProfile") CheckQuotaProfile(manifest, findings);
  if (kind == "ConfigMap" && manifest.name() == "pod-enhanced-validator-config") {
    CheckEnhancedRules(manifest, findings);
  }
}

void CheckQuotas(const std::vector<Manifest>& manifests, Findings& findings) {
  struct Quota {
    const Manifest* manifest;
    api::ElasticQuota quota;
    std::string parent;
  };
  std::vector<Quota> waiting;
  std::set<std::string, std::less<>> names{std::string(api::kRootQuota)};
  for (const Manifest& manifest : manifests) {
    if (manifest.kind() != "ElasticQuota") continue;
    auto quota = kube::Decode<api::ElasticQuota>(manifest.value());
    if (!quota.ok()) continue;
    std::string parent(kube::ValueOf(quota->metadata.labels, api::kLabelQuotaParent));
    if (parent.empty()) parent = api::kRootQuota;
    names.insert(quota->metadata.name);
    waiting.push_back({&manifest, *std::move(quota), std::move(parent)});
  }
  VirtualLoop loop;
  manager::QuotaTopology tree(loop.clock(), {});
  std::set<std::string, std::less<>> placed{std::string(api::kRootQuota)};
  const auto place = [&](Quota& each) {
    if (!names.contains(each.parent)) {
      findings.Warning(*each.manifest, fmt::format("metadata.labels.{}", api::kLabelQuotaParent),
                       "quota {} is not in these files: not checked against it", each.parent);
      each.quota.metadata.labels.Mutable()[std::string(api::kLabelQuotaParent)] = api::kRootQuota;
    }
    const Status status = tree.Create(each.quota, false);
    if (!status.ok()) findings.Error(*each.manifest, "spec", "{}", Message(status));
    if (status.ok()) tree.Set(each.quota);
    placed.insert(each.quota.metadata.name);
  };
  // Parents first, in whatever order they are written.
  while (!waiting.empty()) {
    const auto ready = std::ranges::find_if(waiting, [&](const Quota& each) {
      return placed.contains(each.parent) || !names.contains(each.parent);
    });
    if (ready == waiting.end()) {
      for (const Quota& each : waiting) {
        findings.Error(*each.manifest, fmt::format("metadata.labels.{}", api::kLabelQuotaParent),
                       "quota {} is below itself", each.parent);
      }
      return;
    }
    place(*ready);
    waiting.erase(ready);
  }
}

}  // namespace koord::validation
