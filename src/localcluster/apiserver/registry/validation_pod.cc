#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <set>

#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/resources_validation.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

// They stay where they are, in the pod that is looked at.
using NameSet = absl::flat_hash_set<std::string_view>;

void ValidatePorts(const json::object& container, const FieldPath& path, FieldErrors& errors) {
  const json::array* ports = ArrayIn(container, "ports");
  if (ports == nullptr) return;
  const FieldPath list = path / "ports";
  NameSet names;
  for (size_t i = 0; i < ports->size(); ++i) {
    const json::object* port = (*ports)[i].if_object();
    if (port == nullptr) continue;
    const FieldPath at = list[i];
    if (const std::string_view name = StringAt(*port, "name"); !name.empty()) {
      if (std::string wrong = CheckPortName(name); !wrong.empty()) {
        errors.push_back(Invalid(at / "name", Text(name), std::move(wrong)));
      } else if (!names.emplace(name).second) {
        errors.push_back(Duplicate(at / "name", Text(name)));
      }
    }
    const int64_t number = kube::FindInt((*ports)[i], {"containerPort"});
    if (number == 0) {
      errors.push_back(Required(at / "containerPort"));
    } else if (number < 1 || number > 65535) {
      errors.push_back(
          Invalid(at / "containerPort", Json(number), "must be between 1 and 65535, inclusive"));
    }
    CheckOneOf(*port, "protocol", at, {"SCTP", "TCP", "UDP"}, errors);
  }
}

void ValidateEnv(const json::object& container, const FieldPath& path, FieldErrors& errors) {
  const json::array* variables = ArrayIn(container, "env");
  if (variables == nullptr) return;
  const FieldPath list = path / "env";
  for (size_t i = 0; i < variables->size(); ++i) {
    const std::string_view name = kube::FindString((*variables)[i], {"name"});
    if (name.empty()) {
      errors.push_back(Required(list[i] / "name"));
    } else if (std::string wrong = CheckEnvName(name); !wrong.empty()) {
      errors.push_back(Invalid(list[i] / "name", Text(name), std::move(wrong)));
    }
  }
}

void ValidateMounts(const json::object& container, const NameSet& volumes, const FieldPath& path,
                    FieldErrors& errors) {
  const json::array* mounts = ArrayIn(container, "volumeMounts");
  if (mounts == nullptr) return;
  const FieldPath list = path / "volumeMounts";
  NameSet paths;
  for (size_t i = 0; i < mounts->size(); ++i) {
    const json::object* mount = (*mounts)[i].if_object();
    if (mount == nullptr) continue;
    const FieldPath at = list[i];
    const std::string_view name = StringAt(*mount, "name");
    const std::string_view mount_path = StringAt(*mount, "mountPath");
    if (name.empty()) {
      errors.push_back(Required(at / "name"));
    } else if (!volumes.contains(name)) {
      errors.push_back(NotFoundValue(at / "name", Text(name)));
    }
    if (mount_path.empty()) {
      errors.push_back(Required(at / "mountPath"));
    } else if (!paths.emplace(mount_path).second) {
      errors.push_back(Invalid(at / "mountPath", Text(mount_path), "must be unique"));
    }
  }
}

void ValidateContainer(const json::object& container, const NameSet& volumes, NameSet& names,
                       const FieldPath& path, FieldErrors& errors) {
  const std::string_view name = StringAt(container, "name");
  if (name.empty()) {
    errors.push_back(Required(path / "name"));
  } else if (std::string wrong = CheckDnsLabel(name); !wrong.empty()) {
    errors.push_back(Invalid(path / "name", Text(name), std::move(wrong)));
  } else if (!names.emplace(name).second) {
    errors.push_back(Duplicate(path / "name", Text(name)));
  }
  if (StringAt(container, "image").empty()) errors.push_back(Required(path / "image"));
  CheckOneOf(container, "imagePullPolicy", path, {"Always", "IfNotPresent", "Never"}, errors);
  CheckOneOf(container, "terminationMessagePolicy", path, {"FallbackToLogsOnError", "File"},
             errors);
  ValidatePorts(container, path, errors);
  ValidateEnv(container, path, errors);
  ValidateMounts(container, volumes, path, errors);
  if (const json::object* resources = ObjectIn(container, "resources")) {
    ValidateResources(*resources, path / "resources", errors);
  }
}

void ValidateContainers(const json::object& spec, std::string_view list_name,
                        const NameSet& volumes, NameSet& names, const FieldPath& path,
                        FieldErrors& errors) {
  const json::array* containers = ArrayIn(spec, list_name);
  if (containers == nullptr) return;
  const FieldPath list = path / list_name;
  for (size_t i = 0; i < containers->size(); ++i) {
    const json::object* container = (*containers)[i].if_object();
    if (container != nullptr) ValidateContainer(*container, volumes, names, list[i], errors);
  }
}

NameSet ValidateVolumes(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  NameSet names;
  const json::array* volumes = ArrayIn(spec, "volumes");
  if (volumes == nullptr) return names;
  const FieldPath list = path / "volumes";
  for (size_t i = 0; i < volumes->size(); ++i) {
    const json::object* volume = (*volumes)[i].if_object();
    if (volume == nullptr) continue;
    const FieldPath at = list[i];
    const std::string_view name = StringAt(*volume, "name");
    if (name.empty()) {
      errors.push_back(Required(at / "name"));
    } else if (std::string wrong = CheckDnsLabel(name); !wrong.empty()) {
      errors.push_back(Invalid(at / "name", Text(name), std::move(wrong)));
    } else if (!names.emplace(name).second) {
      errors.push_back(Duplicate(at / "name", Text(name)));
    }
    if (volume->size() > 2) {
      errors.push_back(Forbidden(at, "may not specify more than 1 volume type"));
    }
  }
  return names;
}

void ValidateToleration(const json::object& toleration, const FieldPath& path,
                        FieldErrors& errors) {
  const std::string_view op = StringAt(toleration, "operator");
  const std::string_view key = StringAt(toleration, "key");
  CheckOneOf(toleration, "operator", path, {"Equal", "Exists"}, errors);
  CheckOneOf(toleration, "effect", path, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, errors);
  if (!key.empty()) {
    if (std::string wrong = CheckQualifiedName(key); !wrong.empty()) {
      errors.push_back(Invalid(path / "key", Text(key), std::move(wrong)));
    }
  } else if (op != "Exists") {
    errors.push_back(Invalid(path / "operator", Text(op),
                             "operator must be Exists when `key` is empty, which means \"match all "
                             "values and all keys\""));
  }
  if (op == "Exists" && !StringAt(toleration, "value").empty()) {
    errors.push_back(
        Invalid(path / "operator", Text(op), "value must be empty when `operator` is 'Exists'"));
  }
  const Json* seconds = toleration.if_contains("tolerationSeconds");
  if (seconds != nullptr && !seconds->is_null() && StringAt(toleration, "effect") != "NoExecute") {
    errors.push_back(Invalid(path / "effect", Text(StringAt(toleration, "effect")),
                             "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
}

void ValidateTolerations(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  const json::array* tolerations = ArrayIn(spec, "tolerations");
  if (tolerations == nullptr) return;
  const FieldPath list = path / "tolerations";
  for (size_t i = 0; i < tolerations->size(); ++i) {
    if (const json::object* item = (*tolerations)[i].if_object()) {
      ValidateToleration(*item, list[i], errors);
    }
  }
}

void ValidateSpread(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  const json::array* constraints = ArrayIn(spec, "topologySpreadConstraints");
  if (constraints == nullptr) return;
  const FieldPath list = path / "topologySpreadConstraints";
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < constraints->size(); ++i) {
    const json::object* item = (*constraints)[i].if_object();
    if (item == nullptr) continue;
    const FieldPath at = list[i];
    const int64_t skew = kube::FindInt((*constraints)[i], {"maxSkew"});
    if (skew <= 0) {
      errors.push_back(Invalid(at / "maxSkew", Json(skew), "must be greater than zero"));
    }
    if (IsUnset(*item, "topologyKey")) {
      errors.push_back(Required(at / "topologyKey", "can not be empty"));
    }
    if (IsUnset(*item, "whenUnsatisfiable")) {
      errors.push_back(
          NotSupported(at / "whenUnsatisfiable", Text(""), {"DoNotSchedule", "ScheduleAnyway"}));
    }
    CheckOneOf(*item, "whenUnsatisfiable", at, {"DoNotSchedule", "ScheduleAnyway"}, errors);
    const std::string key(StringAt(*item, "topologyKey"));
    const std::string action(StringAt(*item, "whenUnsatisfiable"));
    if (!seen.emplace(key, action).second) {
      errors.push_back(Duplicate(at / "{topologyKey, whenUnsatisfiable}",
                                 Text(fmt::format("{{{}, {}}}", key, action))));
    }
  }
}

void ValidateGates(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  const json::array* gates = ArrayIn(spec, "schedulingGates");
  if (gates == nullptr) return;
  const FieldPath list = path / "schedulingGates";
  NameSet names;
  for (size_t i = 0; i < gates->size(); ++i) {
    const std::string_view name = kube::FindString((*gates)[i], {"name"});
    if (std::string wrong = CheckQualifiedName(name); !wrong.empty()) {
      errors.push_back(Invalid(list[i], Text(name), std::move(wrong)));
    } else if (!names.emplace(name).second) {
      errors.push_back(Duplicate(list[i], Text(name)));
    }
  }
}

}  // namespace

void ValidatePodSpec(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  const NameSet volumes = ValidateVolumes(spec, path, errors);
  const json::array* containers = ArrayIn(spec, "containers");
  if (containers == nullptr || containers->empty()) errors.push_back(Required(path / "containers"));
  NameSet names;
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    ValidateContainers(spec, list, volumes, names, path, errors);
  }
  CheckOneOf(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, errors);
  CheckOneOf(spec, "dnsPolicy", path,
             {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}, errors);
  CheckOneOf(spec, "preemptionPolicy", path, {"Never", "PreemptLowerPriority"}, errors);
  CheckNotNegative(spec, "terminationGracePeriodSeconds", path, errors);
  if (const Json* deadline = spec.if_contains("activeDeadlineSeconds")) {
    if (deadline->is_int64() && deadline->get_int64() < 1) {
      errors.push_back(Invalid(path / "activeDeadlineSeconds", *deadline,
                               "must be between 1 and 2147483647, inclusive"));
    }
  }
  ValidateLabels(spec.if_contains("nodeSelector"), path / "nodeSelector", errors);
  for (const char* field : {"nodeName", "serviceAccountName", "priorityClassName"}) {
    const std::string_view name = StringAt(spec, field);
    if (name.empty()) continue;
    if (std::string wrong = CheckDnsSubdomain(name); !wrong.empty()) {
      errors.push_back(Invalid(path / field, Text(name), std::move(wrong)));
    }
  }
  ValidateTolerations(spec, path, errors);
  ValidateSpread(spec, path, errors);
  ValidateGates(spec, path, errors);
}

void ValidatePod(const Json& pod, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(pod, {"spec"});
  const FieldPath path("spec");
  if (spec == nullptr) {
    errors.push_back(Required(path / "containers"));
    return;
  }
  ValidatePodSpec(*spec, path, errors);
}

}  // namespace koord::apiserver
