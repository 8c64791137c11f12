#include <fmt/format.h>

#include <set>

#include "base/strings.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxAnnotations = 256 * 1024;

void ValidateOwners(const json::object& meta, const FieldPath& path, FieldErrors& errors) {
  const json::array* owners = ArrayIn(meta, "ownerReferences");
  if (owners == nullptr) return;
  const FieldPath list = path / "ownerReferences";
  std::string controller;
  for (size_t i = 0; i < owners->size(); ++i) {
    const json::object* owner = (*owners)[i].if_object();
    if (owner == nullptr) continue;
    const FieldPath at = list[i];
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (IsUnset(*owner, field)) {
        errors.push_back(Invalid(at / field, Text(""), fmt::format("{} must not be empty", field)));
      }
    }
    if (!kube::FindBool((*owners)[i], {"controller"})) continue;
    const std::string_view name = StringAt(*owner, "name");
    if (!controller.empty()) {
      errors.push_back(Invalid(
          list, *meta.if_contains("ownerReferences"),
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                      "references for {} and {}",
                      controller, name)));
    }
    controller = name;
  }
}

void ValidateFinalizers(const json::object& meta, const FieldPath& path, FieldErrors& errors) {
  const json::array* finalizers = ArrayIn(meta, "finalizers");
  if (finalizers == nullptr) return;
  const FieldPath list = path / "finalizers";
  bool orphan = false;
  bool foreground = false;
  for (size_t i = 0; i < finalizers->size(); ++i) {
    const json::string* name = (*finalizers)[i].if_string();
    if (name == nullptr) continue;
    const std::string wrong = CheckQualifiedName(*name);
    if (!wrong.empty()) errors.push_back(Invalid(list, (*finalizers)[i], wrong));
    orphan |= *name == "orphan";
    foreground |= *name == "foregroundDeletion";
  }
  if (orphan && foreground) {
    errors.push_back(
        Invalid(list, *finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

// `[]string{"x", "y"}`, as the original prints it.
std::string GoStrings(const std::vector<std::string>& names) {
  std::string text = "[]string{";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ", ";
    text += kube::Serialize(Text(names[i]));
  }
  return text + "}";
}

void ValidateNoNewFinalizers(const Json& object, const Json& old, FieldErrors& errors) {
  if (kube::FindString(old, {"metadata", "deletionTimestamp"}).empty()) return;
  const json::array* now = kube::FindArray(object, {"metadata", "finalizers"});
  if (now == nullptr) return;
  std::set<std::string_view> known;
  if (const json::array* before = kube::FindArray(old, {"metadata", "finalizers"})) {
    for (const Json& name : *before) known.insert(kube::FindString(name, {}));
  }
  std::vector<std::string> added;
  for (const Json& item : *now) {
    const std::string_view name = kube::FindString(item, {});
    if (item.is_string() && !known.contains(name)) added.emplace_back(name);
  }
  if (added.empty()) return;
  errors.push_back(Forbidden("metadata.finalizers",
                             "no new finalizers can be added if the object is being deleted, found "
                             "new finalizers " +
                                 GoStrings(added)));
}

void ValidateDeletionUnchanged(const Json& object, const Json& old, FieldErrors& errors) {
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json* now = kube::Find(object, {"metadata", field});
    const Json* before = kube::Find(old, {"metadata", field});
    if (now == nullptr || now->is_null()) continue;
    if (before != nullptr && kube::Equal(*now, *before)) continue;
    errors.push_back(Invalid(std::string("metadata.") + field, *now, "field is immutable"));
  }
}

}  // namespace

void ValidateLabels(const Json* labels, const FieldPath& path, FieldErrors& errors) {
  const json::object* pairs = labels == nullptr ? nullptr : labels->if_object();
  if (pairs == nullptr) return;
  for (const auto& pair : *pairs) {
    if (std::string wrong = CheckQualifiedName(pair.key()); !wrong.empty()) {
      errors.push_back(Invalid(path, Text(pair.key()), std::move(wrong)));
    }
    const json::string* value = pair.value().if_string();
    if (value == nullptr) continue;
    if (std::string wrong = CheckLabelValue(*value); !wrong.empty()) {
      errors.push_back(Invalid(path, pair.value(), std::move(wrong)));
    }
  }
}

void ValidateAnnotations(const Json* annotations, const FieldPath& path, FieldErrors& errors) {
  const json::object* pairs = annotations == nullptr ? nullptr : annotations->if_object();
  if (pairs == nullptr) return;
  size_t total = 0;
  for (const auto& pair : *pairs) {
    // Unlike labels, annotation keys are compared without regard to case.
    if (std::string wrong = CheckQualifiedName(ToLower(pair.key())); !wrong.empty()) {
      errors.push_back(Invalid(path, Text(pair.key()), std::move(wrong)));
    }
    const json::string* value = pair.value().if_string();
    total += pair.key().size() + (value == nullptr ? 0 : value->size());
  }
  if (total > kMaxAnnotations) errors.push_back(TooLong(path, kMaxAnnotations));
}

void ValidateObjectMeta(const Json& object, bool namespaced, NameRule name_rule,
                        FieldErrors& errors) {
  const FieldPath path("metadata");
  const json::object* meta = kube::FindObject(object, {"metadata"});
  if (meta == nullptr) {
    errors.push_back(Required(path));
    return;
  }
  if (const std::string_view prefix = StringAt(*meta, "generateName"); !prefix.empty()) {
    // A name is made by appending to it, so it may end where a name may not.
    const std::string wrong = CheckName(name_rule, std::string(prefix.substr(0, 58)) + "x");
    if (!wrong.empty()) errors.push_back(Invalid(path / "generateName", Text(prefix), wrong));
  }
  const std::string_view name = StringAt(*meta, "name");
  if (name.empty()) {
    errors.push_back(Required(path / "name", "name or generateName is required"));
  } else if (std::string wrong = CheckName(name_rule, name); !wrong.empty()) {
    errors.push_back(Invalid(path / "name", Text(name), std::move(wrong)));
  }
  const std::string_view ns = StringAt(*meta, "namespace");
  if (namespaced) {
    if (ns.empty()) {
      errors.push_back(Required(path / "namespace"));
    } else if (std::string wrong = CheckDnsLabel(ns); !wrong.empty()) {
      errors.push_back(Invalid(path / "namespace", Text(ns), std::move(wrong)));
    }
  } else if (!ns.empty()) {
    errors.push_back(Forbidden(path / "namespace", "not allowed on this type"));
  }
  ValidateLabels(meta->if_contains("labels"), path / "labels", errors);
  ValidateAnnotations(meta->if_contains("annotations"), path / "annotations", errors);
  ValidateOwners(*meta, path, errors);
  ValidateFinalizers(*meta, path, errors);
}

void ValidateObjectMetaUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  CheckUnchanged(object, old, {"metadata", "name"}, "metadata.name", errors);
  CheckUnchanged(object, old, {"metadata", "namespace"}, "metadata.namespace", errors);
  ValidateNoNewFinalizers(object, old, errors);
  ValidateDeletionUnchanged(object, old, errors);
}

}  // namespace koord::apiserver
