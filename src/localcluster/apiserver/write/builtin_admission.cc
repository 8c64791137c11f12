#include "localcluster/apiserver/write/builtin_admission.h"

#include <algorithm>

#include "base/strings.h"
#include "kube/objects/pod.h"
#include "kube/objects/storage.h"
#include "kube/resources.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/limitrange/limit_rules.h"
#include "localcluster/apiserver/registry/json_edit.h"
#include "localcluster/apiserver/write/service_addresses.h"

namespace koord::apiserver {
namespace {

constexpr int kOutageSeconds = 300;
constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr char kDefaultClass[] = "storageclass.kubernetes.io/is-default-class";
constexpr char kDefaultClassOld[] = "storageclass.beta.kubernetes.io/is-default-class";
constexpr char kClassAnnotation[] = "volume.beta.kubernetes.io/storage-class";

std::string_view NameOf(const Json& object) {
  return kube::FindString(object, {"metadata", "name"});
}

bool Tolerates(const json::array& tolerations, std::string_view key) {
  for (const Json& item : tolerations) {
    const std::string_view own = kube::FindString(item, {"key"});
    const std::string_view effect = kube::FindString(item, {"effect"});
    const bool any_key = own.empty() && kube::FindString(item, {"operator"}) == "Exists";
    if ((own == key || any_key) && (effect.empty() || effect == "NoExecute")) return true;
  }
  return false;
}

bool IsPods(const ResourceInfo& info) { return info.resource == kube::kPods; }

// What a pod asks for is settled when it is made, but for /resize.
bool ChangesAmounts(std::string_view subresource, const Json* old) {
  return old == nullptr ? subresource.empty() : subresource == "resize";
}

void TolerateOutages(json::object& spec) {
  Json& value = spec["tolerations"];
  if (value.is_null()) value.emplace_array();
  json::array* tolerations = value.if_array();
  if (tolerations == nullptr) return;
  for (const std::string_view key : {kNotReady, kUnreachable}) {
    if (Tolerates(*tolerations, key)) continue;
    tolerations->push_back(json::object{{"key", key},
                                        {"operator", "Exists"},
                                        {"effect", "NoExecute"},
                                        {"tolerationSeconds", kOutageSeconds}});
  }
}

}  // namespace

BuiltinAdmission::BuiltinAdmission(Core& core) : core_(core), quotas_(core) {
  core_.Observe(kube::kPriorityClasses.qualified(),
                [this](const EntryPtr&, const EntryPtr&) { priorities_.reset(); });
}

Status BuiltinAdmission::Create(const ResourceInfo& info, std::string_view ns, Json& object) {
  if (info.resource.namespaced) RETURN_IF_ERROR(CheckNamespace(info, ns, object));
  if (info.custom || info.resource.group != "") return absl::OkStatus();
  if (info.resource.kind == "Pod") return AdmitPod(ns, object);
  if (info.resource.kind == "PersistentVolumeClaim") SetStorageClass(object);
  if (info.resource.kind == "Service") return AssignServiceAddresses(core_, object);
  return absl::OkStatus();
}

Status BuiltinAdmission::Update(const ResourceInfo& info, Json& object) {
  const bool service = !info.custom && info.resource.qualified() == "services";
  return service ? AssignServiceAddresses(core_, object) : absl::OkStatus();
}

Status BuiltinAdmission::Delete(const ResourceInfo& info, std::string_view name) {
  const bool immortal = name == "default" || name == "kube-system" || name == "kube-public";
  if (info.resource.qualified() == "namespaces" && immortal) {
    return ForbiddenObject(info.resource, name, "this namespace may not be deleted");
  }
  return absl::OkStatus();
}

Status BuiltinAdmission::CheckNamespace(const ResourceInfo& info, std::string_view ns,
                                        const Json& object) {
  const EntryPtr entry = core_.store.Get("namespaces", ns);
  if (entry == nullptr) return ObjectNotFound(kube::kNamespaces, ns);
  if (IndexedField(*entry, "status.phase") != "Terminating") return absl::OkStatus();
  const std::string why = fmt::format(
      "unable to create new content in namespace {} because it is being terminated", ns);
  kube::ApiError error = ErrorOf(ForbiddenObject(info.resource, NameOf(object), why));
  error.causes.push_back({"NamespaceTerminating",
                          fmt::format("namespace {} is being terminated", ns),
                          "metadata.namespace"});
  return kube::ToStatus(error);
}

Status BuiltinAdmission::AdmitPod(std::string_view ns, Json& pod) {
  json::object* spec = kube::At(pod, {"spec"}).if_object();
  if (spec == nullptr) return absl::OkStatus();
  SetIfUnset(*spec, "serviceAccountName", "default");
  const std::string account(StringAt(*spec, "serviceAccountName"));
  (*spec)["serviceAccount"] = account;
  TolerateOutages(*spec);
  RETURN_IF_ERROR(SetPriority(*spec, pod));
  for (const kube::LimitRange& limits : LimitRangesOf(ns)) FillInLimits(limits, pod);
  return absl::OkStatus();
}

std::vector<kube::LimitRange> BuiltinAdmission::LimitRangesOf(std::string_view ns) const {
  std::vector<kube::LimitRange> found;
  const auto add = [&](const EntryPtr& entry) {
    const auto json = kube::ParseJson(entry->value);
    if (!json.ok()) return true;
    if (auto limits = kube::Decode<kube::LimitRange>(*json); limits.ok()) {
      found.push_back(*std::move(limits));
    }
    return true;
  };
  core_.store.Range("limitranges", std::string(ns) + "/", "", 0, add).IgnoreError();
  return found;
}

Status BuiltinAdmission::CheckLimits(const ResourceInfo& info, std::string_view ns,
                                     std::string_view subresource, const Json& object,
                                     const Json* old) const {
  const bool is_pod = IsPods(info) && ChangesAmounts(subresource, old);
  const bool is_claim = info.resource == kube::kPersistentVolumeClaims && subresource.empty();
  if (!is_pod && !is_claim) return absl::OkStatus();
  std::vector<std::string> broken;
  for (const kube::LimitRange& limits : LimitRangesOf(ns)) {
    std::vector<std::string> more;
    if (is_pod) {
      ASSIGN_OR_RETURN(const auto pod, kube::Decode<kube::Pod>(object));
      more = BrokenLimits(limits, pod);
    } else {
      ASSIGN_OR_RETURN(const auto claim, kube::Decode<kube::PersistentVolumeClaim>(object));
      more = BrokenLimits(limits, claim);
    }
    // What several bounds or containers have in common is said once.
    for (std::string& each : more) {
      if (std::ranges::find(broken, each) == broken.end()) broken.push_back(std::move(each));
    }
  }
  if (broken.empty()) return absl::OkStatus();
  return ForbiddenObject(info.resource, NameOf(object),
                         broken.size() == 1 ? broken[0] : "[" + Join(broken, ", ") + "]");
}

Status BuiltinAdmission::CheckQuotas(const ResourceInfo& info, std::string_view ns,
                                     std::string_view subresource, const Json& object,
                                     const Json* old) const {
  const bool counts = IsPods(info) ? ChangesAmounts(subresource, old) : subresource.empty();
  return counts ? quotas_.Check(info, ns, object, old) : absl::OkStatus();
}

Status BuiltinAdmission::SetPriority(json::object& spec, const Json& pod) {
  if (!priorities_) LoadPriorityClasses();
  std::string name(StringAt(spec, "priorityClassName"));
  if (name.empty() && !default_priority_.empty()) {
    name = default_priority_;
    spec["priorityClassName"] = name;
  }
  PriorityClass chosen{0, "PreemptLowerPriority"};
  if (!name.empty()) {
    const auto it = priorities_->find(name);
    if (it == priorities_->end()) {
      return ForbiddenObject(kube::kPods, NameOf(pod),
                             fmt::format("no PriorityClass with name {} was found", name));
    }
    chosen = it->second;
  }
  const Json* given = spec.if_contains("priority");
  if (given != nullptr && !given->is_null() && *given != chosen.value) {
    return ForbiddenObject(
        kube::kPods, NameOf(pod),
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    kube::Serialize(*given), chosen.value));
  }
  spec["priority"] = chosen.value;
  const std::string_view policy = StringAt(spec, "preemptionPolicy");
  if (!policy.empty() && policy != chosen.preemption_policy) {
    return ForbiddenObject(
        kube::kPods, NameOf(pod),
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                    "priority admission controller computed {} from the given PriorityClass name",
                    policy, chosen.preemption_policy));
  }
  spec["preemptionPolicy"] = chosen.preemption_policy;
  return absl::OkStatus();
}

void BuiltinAdmission::LoadPriorityClasses() {
  priorities_.emplace();
  default_priority_.clear();
  int64_t default_value = 0;
  const auto add = [&](const EntryPtr& entry) {
    const auto object = kube::ParseJson(entry->value);
    if (!object.ok()) return true;
    const PriorityClass item{
        kube::FindInt(*object, {"value"}),
        std::string(kube::FindString(*object, {"preemptionPolicy"}, "PreemptLowerPriority"))};
    // Should several claim to be the default, the lowest counts.
    if (kube::FindBool(*object, {"globalDefault"}) &&
        (default_priority_.empty() || item.value < default_value)) {
      default_priority_ = entry->key;
      default_value = item.value;
    }
    priorities_->emplace(entry->key, item);
    return true;
  };
  core_.store.Range(kube::kPriorityClasses.qualified(), "", "", 0, add).IgnoreError();
}

void BuiltinAdmission::SetStorageClass(Json& claim) {
  json::object* spec = kube::At(claim, {"spec"}).if_object();
  // "" asks for no class at all.
  if (spec == nullptr || spec->contains("storageClassName")) return;
  if (kube::Find(claim, {"metadata", "annotations", kClassAnnotation}) != nullptr) return;
  std::string newest;
  std::string created;
  const auto visit = [&](const EntryPtr& entry) {
    const auto object = kube::ParseJson(entry->value);
    if (!object.ok()) return true;
    const auto marked = [&](const char* mark) {
      return kube::FindString(*object, {"metadata", "annotations", mark}) == "true";
    };
    if (!marked(kDefaultClass) && !marked(kDefaultClassOld)) return true;
    const std::string_view time = kube::FindString(*object, {"metadata", "creationTimestamp"});
    if (newest.empty() || time > created) {
      newest = entry->key;
      created = time;
    }
    return true;
  };
  core_.store.Range(kube::kStorageClasses.qualified(), "", "", 0, visit).IgnoreError();
  if (!newest.empty()) (*spec)["storageClassName"] = newest;
}

}  // namespace koord::apiserver
