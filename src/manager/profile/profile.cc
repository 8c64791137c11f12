#include "manager/profile/profile.h"

#include <algorithm>
#include <utility>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/priority.h"
#include "base/log.h"
#include "kube/objects/pod.h"
#include "kube/patch/strategic_merge_patch.h"

namespace koord::manager {
namespace {

using api::ClusterColocationProfileSpec;
using kube::Json;
using kube::LabelMatcher;
namespace json = kube::json;

StatusOr<LabelMatcher> CompileSelector(const std::optional<kube::LabelSelector>& selector,
                                       std::string_view field) {
  if (!selector) return LabelMatcher();
  StatusOr<LabelMatcher> matcher = LabelMatcher::From(*selector);
  if (!matcher.ok()) return InvalidArgument("spec.{}: {}", field, Message(matcher.status()));
  return matcher;
}

bool MatchesObject(const CompiledProfile& profile, const json::object* labels) {
  return profile.objects.empty() || profile.objects.Matches(labels);
}

// metadata.labels and the like; made where it is missing.
json::object& Pairs(Json& object, std::string_view member) {
  Json& pairs = kube::At(object, {"metadata", member});
  if (!pairs.is_object()) pairs = json::object();
  return pairs.get_object();
}

void SetAll(Json& object, std::string_view member, const kube::Labels& values) {
  if (values.empty()) return;
  json::object& pairs = Pairs(object, member);
  for (const auto& [key, value] : values) pairs.insert_or_assign(key, value);
}

void CopyKeys(Json& object, std::string_view member, const kube::Labels& mapping) {
  if (mapping.empty()) return;
  json::object& pairs = Pairs(object, member);
  for (const auto& [from, to] : mapping) {
    const Json* value = pairs.if_contains(from);
    Json copy = value != nullptr ? *value : Json("");
    pairs.insert_or_assign(to, std::move(copy));
  }
}

void AppendSuffixes(Json& object, const kube::Labels& suffixes) {
  if (suffixes.empty()) return;
  json::object& labels = Pairs(object, "labels");
  for (const auto& [key, suffix] : suffixes) {
    Json* value = labels.if_contains(key);
    if (value != nullptr && value->is_string()) value->get_string().append(suffix);
  }
}

Status SetPriorityClass(const std::string& name, const ProfileTarget& target, Json& pod_spec) {
  const auto found = target.priority_class(name);
  if (found == nullptr) {
    return NotFound("priorityclasses.scheduling.k8s.io {} not found", Quote(name));
  }
  json::object& spec = pod_spec.as_object();
  spec["priorityClassName"] = name;
  spec["priority"] = found->value;
  if (found->preemption_policy.empty()) {
    spec.erase("preemptionPolicy");
  } else {
    spec["preemptionPolicy"] = found->preemption_policy;
  }
  return absl::OkStatus();
}

Status ApplyToPodSpec(const ClusterColocationProfileSpec& spec, const ProfileTarget& target) {
  if (target.pod_spec == nullptr) return absl::OkStatus();
  if (spec.scheduler_name.empty() && spec.priority_class_name.empty()) return absl::OkStatus();
  Json* pod_spec = target.pod_spec(target.object);
  if (pod_spec == nullptr || !pod_spec->is_object()) return absl::OkStatus();
  if (!spec.scheduler_name.empty()) pod_spec->get_object()["schedulerName"] = spec.scheduler_name;
  if (spec.priority_class_name.empty()) return absl::OkStatus();
  return SetPriorityClass(spec.priority_class_name, target, *pod_spec);
}

Status Translate(api::PriorityBand band, json::object& holder, std::string_view member) {
  Json* value = holder.if_contains(member);
  if (value == nullptr || !value->is_object()) return absl::OkStatus();
  if (!value->get_object().contains(kube::kCpu) && !value->get_object().contains(kube::kMemory)) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(kube::ResourceList resources, kube::Decode<kube::ResourceList>(*value));
  api::TranslateResources(band, resources);
  *value = kube::Encode(resources);
  return absl::OkStatus();
}

// A limit without a request is the request.
void RequestWhatIsLimited(json::object& resources, std::string_view name) {
  const Json* limits = resources.if_contains("limits");
  const json::object* limited = limits == nullptr ? nullptr : limits->if_object();
  const Json* limit = limited == nullptr ? nullptr : limited->if_contains(name);
  if (limit == nullptr) return;
  Json amount = *limit;
  Json& requests = resources["requests"];
  if (!requests.is_object()) requests = json::object();
  if (!requests.get_object().contains(name)) requests.get_object()[name] = std::move(amount);
}

Status RewriteContainers(api::PriorityBand band, Json& pod, std::string_view member) {
  Json* containers = kube::Find(pod, {"spec", member});
  if (containers == nullptr || !containers->is_array()) return absl::OkStatus();
  for (Json& container : containers->get_array()) {
    Json* resources = kube::Find(container, {"resources"});
    if (resources == nullptr || !resources->is_object()) continue;
    for (const char* list : {"requests", "limits"}) {
      RETURN_IF_ERROR(Translate(band, resources->get_object(), list));
    }
    RequestWhatIsLimited(resources->get_object(), api::TranslateResource(band, kube::kCpu));
    RequestWhatIsLimited(resources->get_object(), api::TranslateResource(band, kube::kMemory));
  }
  return absl::OkStatus();
}

// As much of the type as a strategic patch needs to know: lists inside of the template merge.
const kube::Type& ReservationType() {
  static const kube::Type* const type = [] {
    const auto field = [](std::string name, const kube::Type* of) {
      kube::Type::Field field;
      field.name = std::move(name);
      field.type = of;
      return field;
    };
    const kube::Type* pod_template = kube::FindBuiltinType("v1", "PodTemplate");
    auto* spec = new kube::Type;
    spec->kind = kube::Type::Kind::kStruct;
    spec->name = "ReservationSpec";
    spec->fields = {field("template", pod_template->Find("template")->type)};
    spec->BuildIndex();
    auto* reservation = new kube::Type;
    reservation->kind = kube::Type::Kind::kStruct;
    reservation->name = "Reservation";
    reservation->fields = {field("metadata", pod_template->Find("metadata")->type),
                           field("spec", spec)};
    reservation->BuildIndex();
    return reservation;
  }();
  return *type;
}

template <class T>
void DecodeIfThere(const Json* value, T& into) {
  if (value == nullptr) return;
  if (auto decoded = kube::Decode<T>(*value); decoded.ok()) into = *std::move(decoded);
}

// Mostly label or priority say it, and the rest of the pod need not be read.
StatusOr<api::PriorityBand> BandOf(const Json& pod) {
  kube::Pod head;
  DecodeIfThere(kube::Find(pod, {"metadata", "labels"}), head.metadata.labels);
  DecodeIfThere(kube::Find(pod, {"spec", "priority"}), head.spec.priority);
  if (const api::PriorityBand raw = api::RawPriorityBand(head); raw != api::PriorityBand::kNone) {
    return raw;
  }
  ASSIGN_OR_RETURN(const kube::Pod typed, kube::Decode<kube::Pod>(pod));
  return api::PriorityBandOf(typed);
}

}  // namespace

StatusOr<CompiledProfile> Compile(ProfilePtr profile) {
  ASSIGN_OR_RETURN(LabelMatcher namespaces,
                   CompileSelector(profile->spec.namespace_selector, "namespaceSelector"));
  ASSIGN_OR_RETURN(LabelMatcher objects, CompileSelector(profile->spec.selector, "selector"));
  return CompiledProfile{std::move(profile), std::move(namespaces), std::move(objects)};
}

void ProfileSet::Set(const ProfilePtr& profile) {
  StatusOr<CompiledProfile> compiled = Compile(profile);
  if (compiled.ok()) {
    profiles_.insert_or_assign(profile->metadata.name, *std::move(compiled));
    return;
  }
  LOG_ERROR("Profile matches nothing: bad selector", {"profile", profile->metadata.name},
            {"err", compiled.status()});
  profiles_.erase(profile->metadata.name);
}

StatusOr<std::vector<const CompiledProfile*>> ProfileSet::Match(
    const json::object* labels, const NamespaceLabels& namespace_labels) const {
  std::vector<const CompiledProfile*> matched;
  const kube::Labels* of_namespace = nullptr;
  for (const auto& [name, profile] : profiles_) {
    if (!MatchesObject(profile, labels)) continue;
    if (!profile.namespaces.empty()) {
      if (of_namespace == nullptr) {
        ASSIGN_OR_RETURN(of_namespace, namespace_labels());
      }
      if (!profile.namespaces.Matches(*of_namespace)) continue;
    }
    matched.push_back(&profile);
  }
  return matched;
}

std::vector<const CompiledProfile*> ProfileSet::Match(const json::object* labels) const {
  std::vector<const CompiledProfile*> matched;
  for (const auto& [name, profile] : profiles_) {
    if (MatchesObject(profile, labels)) matched.push_back(&profile);
  }
  return matched;
}

StatusOr<bool> Chosen(const ClusterColocationProfileSpec& spec, Random& random) {
  if (!spec.probability) return true;
  ASSIGN_OR_RETURN(const int64_t percent,
                   spec.probability->Scale(100, kube::IntOrString::Rounding::kFloor));
  if (percent == 100) return true;
  if (percent == 0) return false;
  return static_cast<int64_t>(random.Below(100)) <= percent;
}

Status ApplyProfile(const ClusterColocationProfileSpec& spec, const ProfileTarget& target) {
  Json& object = target.object;
  SetAll(object, "labels", spec.labels);
  SetAll(object, "annotations", spec.annotations);
  CopyKeys(object, "labels", spec.label_keys_mapping);
  CopyKeys(object, "annotations", spec.annotation_keys_mapping);
  AppendSuffixes(object, spec.label_suffixes);
  if (!spec.qos_class.empty()) Pairs(object, "labels")[api::kLabelQosClass] = spec.qos_class;
  RETURN_IF_ERROR(ApplyToPodSpec(spec, target));
  if (spec.koordinator_priority) {
    Pairs(object, "labels")[api::kLabelPriority] = std::to_string(*spec.koordinator_priority);
  }
  if (spec.patch.is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(object,
                   kube::ApplyStrategicMergePatch(std::move(object), spec.patch, *target.type));
  return absl::OkStatus();
}

StatusOr<AppliedProfiles> ApplyProfiles(const std::vector<const CompiledProfile*>& matched,
                                        const ProfileTarget& target, Random& random) {
  AppliedProfiles result;
  for (const CompiledProfile* each : matched) {
    const api::ClusterColocationProfile& profile = *each->profile;
    result.skip_resources |=
        profile.metadata.annotations.contains(api::kAnnotationProfileSkipUpdateResources);
    StatusOr<bool> chosen = Chosen(profile.spec, random);
    if (!chosen.ok()) {
      return InvalidArgument("profile {}: spec.probability: {}", profile.metadata.name,
                             Message(chosen.status()));
    }
    if (!*chosen) continue;
    RETURN_IF_ERROR(ApplyProfile(profile.spec, target));
    result.applied.push_back(profile.metadata.name);
  }
  return result;
}

Status RewriteResources(Json& pod) {
  ASSIGN_OR_RETURN(const api::PriorityBand band, BandOf(pod));
  if (band != api::PriorityBand::kBatch && band != api::PriorityBand::kMid) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(RewriteContainers(band, pod, "initContainers"));
  RETURN_IF_ERROR(RewriteContainers(band, pod, "containers"));
  Json* spec = kube::Find(pod, {"spec"});
  if (spec == nullptr || !spec->is_object()) return absl::OkStatus();
  return Translate(band, spec->get_object(), "overhead");
}

StatusOr<bool> ApplyToPod(const PodProfileContext& context, Random& random, Json& pod) {
  if (context.profiles.empty()) return false;
  ASSIGN_OR_RETURN(const auto matched,
                   context.profiles.Match(kube::FindObject(pod, {"metadata", "labels"}),
                                          context.namespace_labels));
  if (matched.empty()) return false;
  const ProfileTarget target{.object = pod,
                             .pod_spec = [](Json& object) { return kube::Find(object, {"spec"}); },
                             .priority_class = context.priority_class,
                             .type = kube::FindBuiltinType("v1", "Pod")};
  ASSIGN_OR_RETURN(const AppliedProfiles applied, ApplyProfiles(matched, target, random));
  if (context.rewrite_resources && !applied.skip_resources) {
    RETURN_IF_ERROR(RewriteResources(pod));
  }
  return true;
}

StatusOr<bool> ApplyToReservation(const PodProfileContext& context, Random& random,
                                  Json& reservation) {
  const auto matched =
      context.profiles.Match(kube::FindObject(reservation, {"metadata", "labels"}));
  if (matched.empty()) return false;
  const ProfileTarget target{.object = reservation,
                             .pod_spec = [](Json& object) -> Json* {
                               Json* pod_template = kube::Find(object, {"spec", "template"});
                               if (pod_template == nullptr || !pod_template->is_object()) {
                                 return nullptr;
                               }
                               Json& spec = kube::At(*pod_template, {"spec"});
                               if (spec.is_null()) spec = json::object();
                               return &spec;
                             },
                             .priority_class = context.priority_class,
                             .type = &ReservationType()};
  RETURN_IF_ERROR(ApplyProfiles(matched, target, random).status());
  return true;
}

}  // namespace koord::manager
