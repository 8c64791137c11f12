#include <fmt/format.h>

#include <set>

#include "base/strings.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/resources_validation.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxDataSize = 1024 * 1024;
constexpr size_t kMaxNote = 1024;
constexpr int64_t kHighestUserPriority = 1'000'000'000;

// [-._a-zA-Z0-9]+, as a file name in a volume.
std::string CheckDataKey(std::string_view key) {
  const bool spelled = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
  if (key.size() > 253) return "must be no more than 253 bytes";
  if (!spelled) {
    return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
           "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
           "'[-._a-zA-Z0-9]+')";
  }
  if (key == "." || key == "..") return fmt::format("must not be '{}'", key);
  return "";
}

// Checks the keys of one map of data and returns its size.
size_t ValidateDataMap(const Json& object, std::string_view name, FieldErrors& errors) {
  const json::object* data = kube::FindObject(object, {name});
  if (data == nullptr) return 0;
  size_t size = 0;
  const FieldPath path(name);
  for (const auto& pair : *data) {
    if (std::string wrong = CheckDataKey(pair.key()); !wrong.empty()) {
      errors.push_back(Invalid(path.Key(pair.key()), Text(pair.key()), std::move(wrong)));
    }
    if (const json::string* text = pair.value().if_string()) size += text->size();
  }
  return size;
}

// An event lives with the object that it is about; those of cluster-scoped objects in `default`.
void CheckEventNamespace(const Json& event, std::string_view about, FieldErrors& errors) {
  const std::string_view ns = kube::FindString(event, {"metadata", "namespace"});
  const std::string_view object_ns = kube::FindString(event, {about, "namespace"});
  const bool fits = object_ns.empty() ? ns == "default" || ns == "kube-system" : object_ns == ns;
  if (fits) return;
  errors.push_back(Invalid(std::string(about) + ".namespace", Text(object_ns),
                           "does not match event.namespace"));
}

void ValidateTaints(const json::object& spec, FieldErrors& errors) {
  const json::array* taints = ArrayIn(spec, "taints");
  if (taints == nullptr) return;
  const FieldPath list("spec.taints");
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < taints->size(); ++i) {
    const json::object* taint = (*taints)[i].if_object();
    if (taint == nullptr) continue;
    const FieldPath at = list[i];
    const std::string_view key = StringAt(*taint, "key");
    const std::string_view effect = StringAt(*taint, "effect");
    if (std::string wrong = CheckQualifiedName(key); !wrong.empty()) {
      errors.push_back(Invalid(at / "key", Text(key), std::move(wrong)));
    }
    if (effect.empty()) errors.push_back(Required(at / "effect"));
    CheckOneOf(*taint, "effect", at, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, errors);
    if (!seen.emplace(key, effect).second) {
      FieldError error = Duplicate(at, (*taints)[i]);
      error.detail = "taints must be unique by key and effect pair";
      errors.push_back(std::move(error));
    }
  }
}

}  // namespace

void ValidateNode(const Json& object, FieldErrors& errors) {
  if (const json::object* spec = kube::FindObject(object, {"spec"})) ValidateTaints(*spec, errors);
  const FieldPath status("status");
  for (const char* list : {"capacity", "allocatable"}) {
    if (const json::object* amounts = kube::FindObject(object, {"status", list})) {
      ValidateResourceList(*amounts, status / list, errors);
    }
  }
}

void ValidateConfigMap(const Json& object, FieldErrors& errors) {
  const size_t size =
      ValidateDataMap(object, "data", errors) + ValidateDataMap(object, "binaryData", errors);
  if (size > kMaxDataSize) errors.push_back(TooLong("", kMaxDataSize));
  const json::object* data = kube::FindObject(object, {"data"});
  const json::object* binary = kube::FindObject(object, {"binaryData"});
  if (data == nullptr || binary == nullptr) return;
  const FieldPath path("data");
  for (const auto& pair : *data) {
    if (!binary->contains(pair.key())) continue;
    errors.push_back(Invalid(path.Key(pair.key()), Text(pair.key()),
                             fmt::format("duplicate of key present in binaryData")));
  }
}

void ValidateSecret(const Json& object, FieldErrors& errors) {
  // Counted as it is kept; base64 makes it a third longer than what it holds.
  const size_t size = ValidateDataMap(object, "data", errors) / 4 * 3;
  if (size > kMaxDataSize) errors.push_back(TooLong("data", kMaxDataSize));
}

void ValidateImmutableData(const Json& object, const Json& old, FieldErrors& errors) {
  if (!kube::FindBool(old, {"immutable"})) return;
  if (!kube::FindBool(object, {"immutable"})) {
    errors.push_back(Forbidden("immutable", "field is immutable when `immutable` is set"));
  }
  for (const char* field : {"data", "binaryData"}) {
    const Json* now = kube::Find(object, {field});
    const Json* before = kube::Find(old, {field});
    const Json none;
    if (!kube::Equal(now == nullptr ? none : *now, before == nullptr ? none : *before)) {
      errors.push_back(Forbidden(field, "field is immutable when `immutable` is set"));
    }
  }
}

void ValidateSecretUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  CheckUnchanged(object, old, {"type"}, "type", errors);
  ValidateImmutableData(object, old, errors);
}

void ValidateEvent(const Json& object, FieldErrors& errors) {
  CheckEventNamespace(object, "involvedObject", errors);
}

void ValidateEventV1(const Json& object, FieldErrors& errors) {
  CheckEventNamespace(object, "regarding", errors);
  for (const char* field :
       {"eventTime", "reportingController", "reportingInstance", "action", "reason"}) {
    if (kube::FindString(object, {field}).empty()) errors.push_back(Required(field));
  }
  const std::string_view type = kube::FindString(object, {"type"});
  if (type != "Normal" && type != "Warning") {
    errors.push_back(Invalid("type", Text(type), "has invalid value: " + std::string(type)));
  }
  if (kube::FindString(object, {"note"}).size() > kMaxNote) {
    errors.push_back(TooLong("note", kMaxNote));
  }
}

void ValidateService(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec == nullptr) return;
  const FieldPath path("spec");
  CheckOneOf(*spec, "type", path, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"},
             errors);
  CheckOneOf(*spec, "sessionAffinity", path, {"ClientIP", "None"}, errors);
  const std::string_view type = StringAt(*spec, "type");
  const std::string_view cluster_ip = StringAt(*spec, "clusterIP");
  if (type == "ExternalName") {
    CheckRequired(*spec, "externalName", path, errors);
    return;
  }
  const json::array* ports = ArrayIn(*spec, "ports");
  if ((ports == nullptr || ports->empty()) && cluster_ip != "None") {
    errors.push_back(Required(path / "ports"));
    return;
  }
  if (ports == nullptr) return;
  const FieldPath list = path / "ports";
  std::set<std::string> names;
  for (size_t i = 0; i < ports->size(); ++i) {
    const json::object* port = (*ports)[i].if_object();
    if (port == nullptr) continue;
    const FieldPath at = list[i];
    const int64_t number = kube::FindInt((*ports)[i], {"port"});
    if (number < 1 || number > 65535) {
      errors.push_back(
          Invalid(at / "port", Json(number), "must be between 1 and 65535, inclusive"));
    }
    CheckOneOf(*port, "protocol", at, {"SCTP", "TCP", "UDP"}, errors);
    const std::string_view name = StringAt(*port, "name");
    if (name.empty() && ports->size() > 1) errors.push_back(Required(at / "name"));
    if (!name.empty() && !names.emplace(name).second) {
      errors.push_back(Duplicate(at / "name", Text(name)));
    }
  }
}

void ValidateServiceUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  const std::string_view before = kube::FindString(old, {"spec", "clusterIP"});
  if (before.empty() || kube::FindString(object, {"spec", "type"}) == "ExternalName") return;
  CheckUnchanged(object, old, {"spec", "clusterIP"}, "spec.clusterIP", errors);
}

void ValidatePersistentVolume(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec == nullptr) return;
  const FieldPath path("spec");
  const json::array* modes = ArrayIn(*spec, "accessModes");
  if (modes == nullptr || modes->empty()) errors.push_back(Required(path / "accessModes"));
  const json::object* capacity = ObjectIn(*spec, "capacity");
  if (capacity == nullptr || capacity->empty()) {
    errors.push_back(Required(path / "capacity"));
  } else {
    ValidateResourceList(*capacity, path / "capacity", errors);
  }
  CheckOneOf(*spec, "persistentVolumeReclaimPolicy", path, {"Delete", "Recycle", "Retain"}, errors);
  CheckOneOf(*spec, "volumeMode", path, {"Block", "Filesystem"}, errors);
}

void ValidatePersistentVolumeClaim(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec == nullptr) return;
  const FieldPath path("spec");
  const json::array* modes = ArrayIn(*spec, "accessModes");
  if (modes == nullptr || modes->empty()) {
    errors.push_back(Required(path / "accessModes", "at least 1 access mode is required"));
  }
  if (kube::Find(object, {"spec", "resources", "requests", "storage"}) == nullptr) {
    errors.push_back(Required("spec.resources[storage]"));
  }
}

void ValidatePersistentVolumeClaimUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  // A claim grows, is bound once, and otherwise stays what it was.
  const json::object* spec = kube::FindObject(object, {"spec"});
  const json::object* before = kube::FindObject(old, {"spec"});
  if (spec == nullptr || before == nullptr) return;
  json::object rest = *spec;
  const auto take_old = [&](std::string_view field) { TakeField(rest, *before, field); };
  take_old("resources");
  take_old("volumeAttributesClassName");
  if (IsUnset(*before, "volumeName")) take_old("volumeName");
  if (IsUnset(*before, "storageClassName")) take_old("storageClassName");
  if (SameMembers(rest, *before)) return;
  errors.push_back(Forbidden("spec",
                             "spec is immutable after creation except resources.requests and "
                             "volumeAttributesClassName for bound claims"));
}

void ValidateStorageClass(const Json& object, FieldErrors& errors) {
  if (kube::FindString(object, {"provisioner"}).empty()) errors.push_back(Required("provisioner"));
}

void ValidateStorageClassUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  for (const char* field : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"}) {
    const Json* now = kube::Find(object, {field});
    const Json* before = kube::Find(old, {field});
    const Json none;
    if (!kube::Equal(now == nullptr ? none : *now, before == nullptr ? none : *before)) {
      errors.push_back(Forbidden(field, "updates to " + std::string(field) + " are forbidden."));
    }
  }
}

void ValidatePodDisruptionBudget(const Json& object, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(object, {"spec"});
  if (spec == nullptr) return;
  const FieldPath path("spec");
  if (!IsUnset(*spec, "minAvailable") && !IsUnset(*spec, "maxUnavailable")) {
    errors.push_back(
        Invalid(path, Json(*spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const char* field : {"minAvailable", "maxUnavailable"}) {
    CheckNotNegative(*spec, field, path, errors);
    const std::string_view text = StringAt(*spec, field);
    if (text.empty()) continue;
    const auto percent =
        text.ends_with('%') ? ParseInt(text.substr(0, text.size() - 1)) : std::optional<int64_t>();
    if (!percent || *percent < 0) {
      errors.push_back(Invalid(path / field, Text(text), "must be an integer or percentage"));
    } else if (*percent > 100) {
      errors.push_back(Invalid(path / field, Text(text), "must not be greater than 100%"));
    }
  }
  CheckOneOf(*spec, "unhealthyPodEvictionPolicy", path, {"AlwaysAllow", "IfHealthyBudget"}, errors);
}

void ValidatePriorityClass(const Json& object, FieldErrors& errors) {
  const std::string_view name = kube::FindString(object, {"metadata", "name"});
  const int64_t value = kube::FindInt(object, {"value"});
  if (name.starts_with("system-")) {
    if (name != "system-node-critical" && name != "system-cluster-critical") {
      errors.push_back(Forbidden("metadata.name",
                                 "priority class names with 'system-' prefix are reserved for "
                                 "system use only. error: " +
                                     std::string(name) + " is not a known system priority class"));
    }
  } else if (value > kHighestUserPriority) {
    errors.push_back(
        Forbidden("value", fmt::format("maximum allowed value of a user defined priority is {}",
                                       kHighestUserPriority)));
  }
  if (const json::object* root = object.if_object()) {
    const std::string_view policy = StringAt(*root, "preemptionPolicy");
    if (!policy.empty() && policy != "Never" && policy != "PreemptLowerPriority") {
      errors.push_back(
          NotSupported("preemptionPolicy", Text(policy), {"Never", "PreemptLowerPriority"}));
    }
  }
}

void ValidatePriorityClassUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  if (kube::FindInt(object, {"value"}) != kube::FindInt(old, {"value"})) {
    errors.push_back(Forbidden("value", "may not be changed in an update."));
  }
  CheckUnchanged(object, old, {"preemptionPolicy"}, "preemptionPolicy", errors);
}

void ValidateLease(const Json& object, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(object, {"spec"});
  if (spec == nullptr) return;
  const FieldPath path("spec");
  const Json* duration = spec->if_contains("leaseDurationSeconds");
  if (duration != nullptr && duration->is_int64() && duration->get_int64() <= 0) {
    errors.push_back(Invalid(path / "leaseDurationSeconds", *duration, "must be greater than 0"));
  }
  CheckNotNegative(*spec, "leaseTransitions", path, errors);
}

}  // namespace koord::apiserver
