#include <algorithm>
#include <string>

#include "kube/time.h"
#include "localcluster/apiserver/crd/definition.h"
#include "localcluster/apiserver/registry/check.h"

namespace koord::apiserver {
namespace {

struct Condition {
  std::string_view type;
  bool status;
  std::string reason;
  std::string message;
};

void SetCondition(json::array& conditions, const Condition& condition, WallTime now) {
  auto at = std::find_if(conditions.begin(), conditions.end(), [&](const Json& existing) {
    return kube::FindString(existing, {"type"}) == condition.type;
  });
  if (at == conditions.end()) at = conditions.insert(at, json::object());
  if (!at->is_object()) at->emplace_object();
  const std::string_view status = condition.status ? "True" : "False";
  json::object& object = at->get_object();
  if (StringAt(object, "status") != status || StringAt(object, "lastTransitionTime").empty()) {
    object["lastTransitionTime"] = kube::FormatTime(now);
  }
  object["type"] = condition.type;
  object["status"] = status;
  object["reason"] = condition.reason;
  object["message"] = condition.message;
}

json::array& Conditions(Json& crd) {
  Json& conditions = kube::At(crd, {"status", "conditions"});
  if (!conditions.is_array()) conditions.emplace_array();
  return conditions.get_array();
}

// Whether a definition has been given a name: as resource (plural, singular, short) or as kind.
bool HasResourceName(const Json& crd, std::string_view name) {
  const json::object* names = kube::FindObject(crd, {"status", "acceptedNames"});
  if (names == nullptr) return false;
  if (StringAt(*names, "plural") == name || StringAt(*names, "singular") == name) return true;
  const json::array* short_names = ArrayIn(*names, "shortNames");
  return short_names != nullptr &&
         std::any_of(short_names->begin(), short_names->end(),
                     [&](const Json& item) { return kube::FindString(item, {}) == name; });
}

bool HasKind(const Json& crd, std::string_view kind) {
  const json::object* names = kube::FindObject(crd, {"status", "acceptedNames"});
  return names != nullptr &&
         (StringAt(*names, "kind") == kind || StringAt(*names, "listKind") == kind);
}

// The names of a definition, checked against those of the others in its group.
class NameCheck {
 public:
  NameCheck(const Json& crd, std::span<const Json* const> others) : crd_(crd) {
    for (const Json* other : others) {
      if (kube::FindString(*other, {"spec", "group"}) == kube::FindString(crd, {"spec", "group"}) &&
          kube::FindString(*other, {"metadata", "name"}) !=
              kube::FindString(crd, {"metadata", "name"})) {
        others_.push_back(other);
      }
    }
  }

  Condition Check() {
    CheckName("plural", "PluralConflict", HasResourceName);
    CheckName("singular", "SingularConflict", HasResourceName);
    CheckShortNames();
    CheckName("kind", "KindConflict", HasKind);
    CheckName("listKind", "ListKindConflict", HasKind);
    if (conflict_) return {"NamesAccepted", false, reason_, message_};
    return {"NamesAccepted", true, "NoConflicts", "no conflicts found"};
  }

 private:
  void CheckName(std::string_view field, std::string_view reason,
                 bool (*taken)(const Json&, std::string_view)) {
    const std::string_view name = kube::FindString(crd_, {"spec", "names", field});
    if (!name.empty()) Refuse(name, reason, taken);
  }

  void CheckShortNames() {
    const json::array* names = kube::FindArray(crd_, {"spec", "names", "shortNames"});
    if (names == nullptr) return;
    for (const Json& name : *names) {
      Refuse(kube::FindString(name, {}), "ShortNamesConflict", HasResourceName);
    }
  }

  void Refuse(std::string_view name, std::string_view reason,
              bool (*taken)(const Json&, std::string_view)) {
    const bool in_use = std::any_of(others_.begin(), others_.end(),
                                    [&](const Json* other) { return taken(*other, name); });
    if (!in_use || conflict_) return;
    conflict_ = true;
    reason_ = reason;
    message_ = fmt::format("\"{}\" is already in use", name);
  }

  const Json& crd_;
  std::vector<const Json*> others_;
  bool conflict_ = false;
  std::string reason_, message_;
};

void AddStoredVersion(Json& crd) {
  std::string storage;
  if (const json::array* versions = kube::FindArray(crd, {"spec", "versions"})) {
    for (const Json& version : *versions) {
      if (kube::FindBool(version, {"storage"})) storage = kube::FindString(version, {"name"});
    }
  }
  Json& stored = kube::At(crd, {"status", "storedVersions"});
  if (!stored.is_array()) stored.emplace_array();
  json::array& list = stored.get_array();
  const bool known = std::any_of(list.begin(), list.end(), [&](const Json& item) {
    return kube::FindString(item, {}) == storage;
  });
  if (!known && !storage.empty()) list.emplace_back(storage);
}

bool IsTrue(const json::array& conditions, std::string_view type) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& condition) {
    return kube::FindString(condition, {"type"}) == type &&
           kube::FindString(condition, {"status"}) == "True";
  });
}

}  // namespace

bool UpdateDefinitionStatus(Json& crd, std::span<const Json* const> others, WallTime now) {
  const Condition accepted = NameCheck(crd, others).Check();
  json::array& conditions = Conditions(crd);
  SetCondition(conditions, accepted, now);
  // Once established, a definition keeps serving under the names that it was given.
  if (accepted.status) {
    SetCondition(
        conditions,
        {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"}, now);
  } else if (!IsTrue(conditions, "Established")) {
    SetCondition(conditions, {"Established", false, "NotAccepted", "not all names are accepted"},
                 now);
  }
  const bool established = IsTrue(conditions, "Established");

  const Json* names = kube::Find(crd, {"spec", "names"});
  const Json wanted = names == nullptr ? Json(json::object()) : *names;
  if (accepted.status) {
    kube::At(crd, {"status", "acceptedNames"}) = wanted;
  } else if (kube::Find(crd, {"status", "acceptedNames"}) == nullptr) {
    kube::At(crd, {"status", "acceptedNames"}) = json::object{{"plural", ""}, {"kind", ""}};
  }
  AddStoredVersion(crd);
  return established;
}

void MarkDefinitionTerminating(Json& crd, WallTime now) {
  SetCondition(
      Conditions(crd),
      {"Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"},
      now);
}

}  // namespace koord::apiserver
