#include <fmt/format.h>

#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

constexpr std::string_view kUpdateRule =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const json::object& PodSpecOf(const Json& pod) {
  static const json::object kNone;
  const json::object* spec = kube::FindObject(pod, {"spec"});
  return spec == nullptr ? kNone : *spec;
}

// Puts `field` of every container in `from` into the container at the same place of `to`.
void CopyFromContainers(json::object& to, const json::object& from, std::string_view list,
                        std::string_view field) {
  json::array* targets = ArrayAt(to, list);
  const json::array* sources = ArrayIn(from, list);
  if (targets == nullptr || sources == nullptr || targets->size() != sources->size()) return;
  for (size_t i = 0; i < targets->size(); ++i) {
    json::object* target = (*targets)[i].if_object();
    const json::object* source = (*sources)[i].if_object();
    if (target != nullptr && source != nullptr) TakeField(*target, *source, field);
  }
}

bool StartsWith(const json::array* list, const json::array* beginning) {
  if (beginning == nullptr || beginning->empty()) return true;
  return list != nullptr && list->size() >= beginning->size() &&
         std::equal(beginning->begin(), beginning->end(), list->begin());
}

// Every old toleration must still be there; only its tolerationSeconds may have changed.
bool OnlyAddsTolerations(const json::object& now, const json::object& before) {
  const json::array* old_list = ArrayIn(before, "tolerations");
  if (old_list == nullptr) return true;
  const json::array* new_list = ArrayIn(now, "tolerations");
  if (new_list == nullptr) return old_list->empty();
  return std::all_of(old_list->begin(), old_list->end(), [&](const Json& wanted) {
    return std::any_of(new_list->begin(), new_list->end(), [&](const Json& item) {
      Json same = item;
      if (same.is_object() && wanted.is_object()) {
        TakeField(same.get_object(), wanted.get_object(), "tolerationSeconds");
      }
      return same == wanted;
    });
  });
}

bool OnlyRemovesGates(const json::object& now, const json::object& before) {
  const json::array* gates = ArrayIn(now, "schedulingGates");
  if (gates == nullptr) return true;
  const json::array* old_gates = ArrayIn(before, "schedulingGates");
  return std::all_of(gates->begin(), gates->end(), [&](const Json& gate) {
    return old_gates != nullptr &&
           std::find(old_gates->begin(), old_gates->end(), gate) != old_gates->end();
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

}  // namespace

void ValidatePodUpdate(const Json& pod, const Json& old, FieldErrors& errors) {
  const json::object& now = PodSpecOf(pod);
  const json::object& before = PodSpecOf(old);
  if (now == before) return;
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
  if (rest != before) errors.push_back(Forbidden(path, std::string(kUpdateRule)));
}

void ValidatePodResize(const Json& pod, const Json& old, FieldErrors& errors) {
  const json::object& before = PodSpecOf(old);
  json::object rest = PodSpecOf(pod);
  for (const char* list : {"containers", "initContainers"}) {
    CopyFromContainers(rest, before, list, "resources");
    CopyFromContainers(rest, before, list, "resizePolicy");
  }
  TakeField(rest, before, "resources");
  if (rest != before) {
    errors.push_back(Forbidden("spec", "only cpu and memory resources are mutable"));
  }
}

void ValidateEphemeralContainers(const Json& pod, const Json& old, FieldErrors& errors) {
  const json::object& before = PodSpecOf(old);
  const json::object& now = PodSpecOf(pod);
  if (!StartsWith(ArrayIn(now, "ephemeralContainers"), ArrayIn(before, "ephemeralContainers"))) {
    errors.push_back(Forbidden("spec.ephemeralContainers",
                               "existing ephemeral containers may not be changed or removed"));
  }
}

}  // namespace koord::apiserver
