#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/prepare.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

constexpr std::string_view kUpdateRule =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

constexpr std::string_view kResizeRule = "only cpu and memory resources are mutable";
constexpr const char* kContainerLists[] = {"containers", "initContainers"};
constexpr const char* kAmounts[] = {"requests", "limits"};

const json::object& PodSpecOf(const Json& pod) {
  static const json::object kNone;
  const json::object* spec = kube::FindObject(pod, {"spec"});
  return spec == nullptr ? kNone : *spec;
}

// Puts `field` of every container in `from` into the container at the same place of `to`.
void CopyFromContainers(json::object& to, const json::object& from, std::string_view list,
                        std::string_view field) {
  Json* found = to.if_contains(list);
  json::array* targets = found == nullptr ? nullptr : found->if_array();
  const json::array* sources = ArrayIn(from, list);
  if (targets == nullptr || sources == nullptr || targets->size() != sources->size()) return;
  for (size_t i = 0; i < targets->size(); ++i) {
    json::object* target = (*targets)[i].if_object();
    const json::object* source = (*sources)[i].if_object();
    if (target != nullptr && source != nullptr) TakeField(*target, *source, field);
  }
}

// Every old toleration must still be there; only its tolerationSeconds may have changed.
bool OnlyAddsTolerations(const json::object& now, const json::object& before) {
  const json::array* old_list = ArrayIn(before, "tolerations");
  if (old_list == nullptr) return true;
  const json::array* new_list = ArrayIn(now, "tolerations");
  if (new_list == nullptr) return old_list->empty();
  using Toleration = std::array<std::string_view, 4>;
  const auto read = [](const Json& item) -> Toleration {
    return {kube::FindString(item, {"key"}), kube::FindString(item, {"operator"}),
            kube::FindString(item, {"value"}), kube::FindString(item, {"effect"})};
  };
  std::set<Toleration> present;
  for (const Json& item : *new_list) present.insert(read(item));
  return std::all_of(old_list->begin(), old_list->end(),
                     [&](const Json& wanted) { return present.contains(read(wanted)); });
}

bool OnlyRemovesGates(const json::object& now, const json::object& before) {
  const json::array* gates = ArrayIn(now, "schedulingGates");
  if (gates == nullptr) return true;
  std::set<std::string_view> known;
  if (const json::array* old_gates = ArrayIn(before, "schedulingGates")) {
    for (const Json& gate : *old_gates) known.insert(kube::FindString(gate, {"name"}));
  }
  return std::all_of(gates->begin(), gates->end(), [&](const Json& gate) {
    return known.contains(kube::FindString(gate, {"name"}));
  });
}

bool IsGated(const json::object& spec) {
  const json::array* gates = ArrayIn(spec, "schedulingGates");
  return gates != nullptr && !gates->empty();
}

// While a pod is gated its node selector may be tightened, never loosened.
bool OnlyAddsNodeSelector(const json::object& now, const json::object& before) {
  const json::object* old_pairs = ObjectIn(before, "nodeSelector");
  if (old_pairs == nullptr) return true;
  const json::object* pairs = ObjectIn(now, "nodeSelector");
  return std::all_of(old_pairs->begin(), old_pairs->end(), [&](const auto& pair) {
    const Json* value = pairs == nullptr ? nullptr : pairs->if_contains(pair.key());
    return value != nullptr && *value == pair.value();
  });
}

void ValidateDeadline(const json::object& now, const json::object& before, const FieldPath& path,
                      FieldErrors& errors) {
  const Json* deadline = now.if_contains("activeDeadlineSeconds");
  const Json* old_deadline = before.if_contains("activeDeadlineSeconds");
  if (old_deadline == nullptr || !old_deadline->is_int64()) return;
  const FieldPath at = path / "activeDeadlineSeconds";
  if (deadline == nullptr || !deadline->is_int64()) {
    errors.push_back(Invalid(at, Json(), "must not update from a positive integer to nil value"));
  } else if (deadline->get_int64() > old_deadline->get_int64()) {
    errors.push_back(Invalid(at, *deadline,
                             fmt::format("must be less than or equal to previous value of {}",
                                         old_deadline->get_int64())));
  }
}

void AllowGracePeriodRepair(json::object& allowed, const json::object& before) {
  const Json* period = before.if_contains("terminationGracePeriodSeconds");
  const Json* wanted = allowed.if_contains("terminationGracePeriodSeconds");
  const bool repaired = period != nullptr && period->is_int64() && period->get_int64() < 0 &&
                        wanted != nullptr && *wanted == 1;
  if (repaired) TakeField(allowed, before, "terminationGracePeriodSeconds");
}

// A resize finds containers by their places, so each must still be where it was.
FieldErrors MovedContainers(const Json& pod, const Json& old) {
  FieldErrors errors;
  const FieldPath spec("spec");
  for (const char* list : kContainerLists) {
    const json::array* now = ArrayIn(PodSpecOf(pod), list);
    const json::array* before = ArrayIn(PodSpecOf(old), list);
    const size_t count = before == nullptr ? 0 : before->size();
    const FieldPath path = spec / list;
    if ((now == nullptr ? 0 : now->size()) != count) {
      errors.push_back(Forbidden(path, "containers may not be added or removed on resize"));
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      if (kube::FindString((*now)[i], {"name"}) == kube::FindString((*before)[i], {"name"})) {
        continue;
      }
      errors.push_back(
          Forbidden(path[i] / "name", "containers may not be renamed or reordered on resize"));
    }
  }
  return errors;
}

// Whether the pod itself, and not only its containers, asks for resources.
bool IsSized(const json::object& spec) {
  const json::object* resources = ObjectIn(spec, "resources");
  return resources != nullptr && std::ranges::any_of(kAmounts, [&](const char* kind) {
           const json::object* amounts = ObjectIn(*resources, kind);
           return amounts != nullptr && !amounts->empty();
         });
}

const json::object& AmountsOf(const json::object& container, std::string_view kind) {
  static const json::object kNone;
  const json::object* resources = ObjectIn(container, "resources");
  const json::object* amounts = resources == nullptr ? nullptr : ObjectIn(*resources, kind);
  return amounts == nullptr ? kNone : *amounts;
}

json::object WithoutCpuAndMemory(json::object amounts) {
  amounts.erase("cpu");
  amounts.erase("memory");
  return amounts;
}

// Nothing but amounts of cpu and memory differs.
bool OnlyResizes(const json::object& now, const json::object& before) {
  json::object rest = now;
  TakeField(rest, before, "resources");
  return SameMembers(rest, before) && std::ranges::all_of(kAmounts, [&](const char* kind) {
           return SameMembers(WithoutCpuAndMemory(AmountsOf(now, kind)),
                              WithoutCpuAndMemory(AmountsOf(before, kind)));
         });
}

void ValidateContainerResize(const json::object& now, const json::object& before,
                             std::string_view rule, const FieldPath& path, FieldErrors& errors) {
  for (const char* kind : kAmounts) {
    const json::object& amounts = AmountsOf(now, kind);
    if (std::ranges::all_of(AmountsOf(before, kind),
                            [&](const auto& amount) { return amounts.contains(amount.key()); })) {
      continue;
    }
    errors.push_back(
        Forbidden(path / "resources" / kind, fmt::format("resource {} cannot be removed", kind)));
  }
  if (!OnlyResizes(now, before)) errors.push_back(Forbidden("spec", std::string(rule)));
}

// Of init containers only those can be resized that run on beside the others.
void ValidateContainerResizes(const json::object& now, const json::object& before,
                              std::string_view list, FieldErrors& errors) {
  const json::array* containers = ArrayIn(now, list);
  if (containers == nullptr) return;
  const json::array& olds = before.at(list).as_array();
  const FieldPath spec("spec");
  const FieldPath path = spec / list;
  for (size_t i = 0; i < containers->size(); ++i) {
    const json::object* container = (*containers)[i].if_object();
    const json::object* old = olds[i].if_object();
    if (container == nullptr || old == nullptr) continue;
    if (list == "containers") {
      ValidateContainerResize(*container, *old, kResizeRule, path[i], errors);
    } else if (StringAt(*old, "restartPolicy") == "Always") {
      ValidateContainerResize(*container, *old,
                              "only cpu and memory resources for sidecar containers are mutable",
                              path[i], errors);
    } else if (!SameMembers(*container, *old)) {
      errors.push_back(
          Forbidden("spec", "resources for non-sidecar init containers are immutable"));
    }
  }
}

}  // namespace

void ValidatePodUpdate(const Json& pod, const Json& old, FieldErrors& errors) {
  const json::object& now = PodSpecOf(pod);
  const json::object& before = PodSpecOf(old);
  if (SameMembers(now, before)) return;
  const FieldPath path("spec");
  ValidateDeadline(now, before, path, errors);

  // What may change is put back to what it was; then nothing may be left that differs.
  json::object rest = now;
  CopyFromContainers(rest, before, "containers", "image");
  CopyFromContainers(rest, before, "initContainers", "image");
  TakeField(rest, before, "activeDeadlineSeconds");
  AllowGracePeriodRepair(rest, before);
  if (OnlyAddsTolerations(now, before)) {
    TakeField(rest, before, "tolerations");
  } else {
    errors.push_back(Forbidden(path / "tolerations",
                               "existing toleration can not be modified except its "
                               "tolerationSeconds"));
    return;
  }
  if (OnlyRemovesGates(now, before)) {
    TakeField(rest, before, "schedulingGates");
  } else {
    errors.push_back(Forbidden(path / "schedulingGates",
                               "only deletion is allowed, but found new scheduling gates"));
    return;
  }
  if (IsGated(before)) {
    if (OnlyAddsNodeSelector(now, before)) TakeField(rest, before, "nodeSelector");
    TakeField(rest, before, "affinity");
  }
  if (!SameMembers(rest, before)) errors.push_back(Forbidden(path, std::string(kUpdateRule)));
}

void ValidatePodResize(const Json& pod, const Json& old, FieldErrors& errors) {
  if (FieldErrors moved = MovedContainers(pod, old); !moved.empty()) {
    errors.insert(errors.end(), moved.begin(), moved.end());
    return;
  }
  const json::object& before = PodSpecOf(old);
  const json::object& now = PodSpecOf(pod);
  if (IsSized(before)) {
    errors.push_back(Forbidden("spec", "pods with pod-level resources cannot be resized"));
    return;
  }
  if (PodQosClass(pod) != PodQosClass(old)) {
    errors.push_back(Invalid("spec", Text(PodQosClass(pod)),
                             "Pod QOS Class may not change as a result of resizing"));
  }
  for (const char* list : kContainerLists) ValidateContainerResizes(now, before, list, errors);
  json::object rest = now;
  for (const char* list : kContainerLists) TakeField(rest, before, list);
  if (!SameMembers(rest, before)) errors.push_back(Forbidden("spec", std::string(kResizeRule)));
}

void ValidateEphemeralContainers(const Json& pod, const Json& old, FieldErrors& errors) {
  const json::array* before = ArrayIn(PodSpecOf(old), "ephemeralContainers");
  if (before == nullptr) return;
  std::map<std::string_view, const Json*> kept;
  if (const json::array* now = ArrayIn(PodSpecOf(pod), "ephemeralContainers")) {
    for (const Json& container : *now) kept[kube::FindString(container, {"name"})] = &container;
  }
  for (const Json& container : *before) {
    const std::string_view name = kube::FindString(container, {"name"});
    const auto found = kept.find(name);
    if (found != kept.end() && kube::Equal(*found->second, container)) continue;
    errors.push_back(Forbidden("spec.ephemeralContainers",
                               fmt::format("existing ephemeral containers \"{}\" may not be {}",
                                           name, found == kept.end() ? "removed" : "changed")));
  }
}

}  // namespace koord::apiserver
