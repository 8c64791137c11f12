#include <algorithm>
#include <set>

#include "base/strings.h"
#include "localcluster/apiserver/crd/definition.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/names.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxSelectableFields = 8;
constexpr size_t kMaxWarning = 256;

// A DNS-1035 label: like a DNS label, but it starts with a letter.
std::string CheckResourceName(std::string_view name) {
  if (CheckDnsLabel(name).empty() && name.front() >= 'a' && name.front() <= 'z') return {};
  return "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
         "an "
         "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
         "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
}

class DefinitionValidator {
 public:
  explicit DefinitionValidator(const Json& crd) : crd_(crd) {}

  FieldErrors Validate() {
    const json::object* spec = kube::FindObject(crd_, {"spec"});
    if (spec == nullptr) {
      errors_.push_back(Required(spec_path_));
      return std::move(errors_);
    }
    CheckGroupAndName(*spec);
    CheckScope(*spec);
    CheckNames(*spec);
    CheckConversion(*spec);
    CheckVersions(*spec);
    return std::move(errors_);
  }

 private:
  void Add(std::string field, std::string_view value, std::string complaint) {
    if (!complaint.empty()) {
      errors_.push_back(Invalid(std::move(field), Text(value), std::move(complaint)));
    }
  }

  void CheckGroupAndName(const json::object& spec) {
    const std::string_view group = StringAt(spec, "group");
    if (group.empty()) {
      errors_.push_back(Required(spec_path_ / "group"));
    } else if (group.find('.') == std::string_view::npos) {
      Add(spec_path_ / "group", group, "should be a domain with at least one dot");
    } else {
      Add(spec_path_ / "group", group, CheckDnsSubdomain(group));
    }
    const std::string_view name = kube::FindString(crd_, {"metadata", "name"});
    const std::string expected =
        fmt::format("{}.{}", kube::FindString(crd_, {"spec", "names", "plural"}), group);
    if (name != expected) {
      Add("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
    }
  }

  void CheckScope(const json::object& spec) {
    CheckRequired(spec, "scope", spec_path_, errors_);
    CheckOneOf(spec, "scope", spec_path_, {"Cluster", "Namespaced"}, errors_);
    const Json* preserve = spec.if_contains("preserveUnknownFields");
    if (preserve != nullptr && preserve->is_bool() && preserve->get_bool()) {
      errors_.push_back(
          Invalid(spec_path_ / "preserveUnknownFields", *preserve,
                  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                  "spec.versions[*].schema instead"));
    }
  }

  void CheckNames(const json::object& spec) {
    const FieldPath path = spec_path_ / "names";
    const json::object* names = ObjectIn(spec, "names");
    if (names == nullptr) {
      errors_.push_back(Required(path));
      return;
    }
    for (const std::string_view name : {"plural", "singular", "kind", "listKind"}) {
      CheckRequired(*names, name, path, errors_);
    }
    for (const std::string_view field : {"plural", "singular"}) {
      const std::string_view name = StringAt(*names, field);
      if (!name.empty()) Add(path / field, name, CheckResourceName(name));
    }
    for (const std::string_view field : {"kind", "listKind"}) {
      const std::string_view name = StringAt(*names, field);
      const std::string complaint = name.empty() ? "" : CheckResourceName(ToLower(name));
      if (!complaint.empty()) {
        Add(path / field, name,
            fmt::format("may have mixed case, but should otherwise match: {}", complaint));
      }
    }
    for (const std::string_view list : {"shortNames", "categories"}) {
      CheckNameList(*names, list, path / list);
    }
    const std::string_view kind = StringAt(*names, "kind");
    if (!kind.empty() && kind == StringAt(*names, "listKind")) {
      Add(path / "listKind", kind, "kind and listKind may not be the same");
    }
  }

  void CheckNameList(const json::object& names, std::string_view list, const FieldPath& path) {
    const json::array* items = ArrayIn(names, list);
    for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
      const std::string_view name = kube::FindString((*items)[i], {});
      Add(path[i], name, CheckResourceName(name));
    }
  }

  void CheckConversion(const json::object& spec) {
    const json::object* conversion = ObjectIn(spec, "conversion");
    if (conversion == nullptr) return;
    CheckOneOf(*conversion, "strategy", spec_path_ / "conversion", {"None"}, errors_);
  }

  void CheckVersions(const json::object& spec) {
    const FieldPath path = spec_path_ / "versions";
    const json::array* versions = ArrayIn(spec, "versions");
    if (versions == nullptr || versions->empty()) {
      errors_.push_back(Required(path, "must have at least one version"));
      return;
    }
    std::set<std::string, std::less<>> names;
    size_t storage = 0;
    for (size_t i = 0; i < versions->size(); ++i) {
      const FieldPath at = path[i];
      const json::object* version = (*versions)[i].if_object();
      if (version == nullptr) {
        errors_.push_back(Invalid(at, (*versions)[i], "must be an object"));
        continue;
      }
      const std::string_view name = StringAt(*version, "name");
      if (!names.emplace(name).second) errors_.push_back(Duplicate(at / "name", Text(name)));
      if (kube::FindBool((*versions)[i], {"storage"})) ++storage;
      CheckVersion(*version, at);
    }
    if (storage != 1) {
      Json shown = json::array();
      for (const std::string& name : names) shown.get_array().emplace_back(name);
      errors_.push_back(
          Invalid(path, shown, "must have exactly one version marked as storage version"));
    }
  }

  void CheckVersion(const json::object& version, const FieldPath& path) {
    const std::string_view name = StringAt(version, "name");
    if (name.empty()) {
      errors_.push_back(Required(path / "name"));
    } else {
      Add(path / "name", name, CheckResourceName(name));
    }
    CheckDeprecation(version, path);
    const FieldPath schema_path = path / "schema";
    const FieldPath open_api_path = schema_path / "openAPIV3Schema";
    const json::object* schema = ObjectIn(version, "schema");
    const Json* open_api = schema == nullptr ? nullptr : schema->if_contains("openAPIV3Schema");
    if (open_api == nullptr || open_api->is_null()) {
      errors_.push_back(Required(open_api_path, "schemas are required"));
    } else {
      StructuralSchema::Compile(*open_api, open_api_path.ToString(), errors_);
    }
    CheckColumns(version, path / "additionalPrinterColumns");
    CheckScale(version, path);
    CheckSelectableFields(version, open_api, path / "selectableFields");
  }

  void CheckDeprecation(const json::object& version, const FieldPath& path) {
    const Json* warning = version.if_contains("deprecationWarning");
    if (warning == nullptr || !warning->is_string()) return;
    const FieldPath at = path / "deprecationWarning";
    const Json* deprecated = version.if_contains("deprecated");
    if (deprecated == nullptr || !deprecated->is_bool() || !deprecated->get_bool()) {
      errors_.push_back(Invalid(at, *warning, "can only be set for deprecated versions"));
    }
    if (warning->get_string().size() > kMaxWarning) {
      errors_.push_back(
          Invalid(at, *warning, fmt::format("must be <= {} characters in length", kMaxWarning)));
    }
  }

  void CheckColumns(const json::object& version, const FieldPath& path) {
    const json::array* columns = ArrayIn(version, "additionalPrinterColumns");
    for (size_t i = 0; columns != nullptr && i < columns->size(); ++i) {
      const FieldPath at = path[i];
      const json::object* column = (*columns)[i].if_object();
      if (column == nullptr) {
        errors_.push_back(Invalid(at, (*columns)[i], "must be an object"));
        continue;
      }
      for (const std::string_view field : {"name", "type", "jsonPath"}) {
        CheckRequired(*column, field, at, errors_);
      }
      CheckOneOf(*column, "type", at, {"boolean", "date", "integer", "number", "string"}, errors_);
      CheckOneOf(*column, "format", at,
                 {"byte", "date", "date-time", "double", "float", "int32", "int64", "password"},
                 errors_);
      const std::string_view json_path = StringAt(*column, "jsonPath");
      if (!json_path.empty()) CheckPath(json_path, at / "jsonPath", /*simple=*/false, {});
    }
  }

  // A simple path has only field names and starts with one of `roots`, if there are any.
  void CheckPath(std::string_view text, const FieldPath& path, bool simple,
                 std::initializer_list<std::string_view> roots) {
    const auto parsed = JsonPath::Parse(text);
    if (!parsed.ok() || !text.starts_with('.')) {
      Add(path, text,
          parsed.ok() ? "must be a simple json path starting with ."
                      : std::string(Message(parsed.status())));
      return;
    }
    if (simple && !parsed->simple()) {
      Add(path, text, "must be a simple json path without array notation");
    }
    const bool rooted = std::any_of(roots.begin(), roots.end(),
                                    [&](std::string_view root) { return text.starts_with(root); });
    if (roots.size() != 0 && !rooted) {
      Add(path, text, fmt::format("should be a json path under {}", Join(roots, " or ")));
    }
  }

  void CheckScale(const json::object& version, const FieldPath& path) {
    const json::object* subresources = ObjectIn(version, "subresources");
    const json::object* scale =
        subresources == nullptr ? nullptr : ObjectIn(*subresources, "scale");
    if (scale == nullptr) return;
    const FieldPath subresources_path = path / "subresources";
    const FieldPath at = subresources_path / "scale";
    for (const std::string_view field : {"specReplicasPath", "statusReplicasPath"}) {
      CheckRequired(*scale, field, at, errors_);
    }
    const struct {
      std::string_view field;
      std::initializer_list<std::string_view> roots;
    } kPaths[] = {{"specReplicasPath", {".spec."}},
                  {"statusReplicasPath", {".status."}},
                  {"labelSelectorPath", {".spec.", ".status."}}};
    for (const auto& [field, roots] : kPaths) {
      const std::string_view text = StringAt(*scale, field);
      if (!text.empty()) CheckPath(text, at / field, /*simple=*/true, roots);
    }
  }

  void CheckSelectableFields(const json::object& version, const Json* schema,
                             const FieldPath& path) {
    const json::array* fields = ArrayIn(version, "selectableFields");
    if (fields == nullptr) return;
    if (fields->size() > kMaxSelectableFields) {
      errors_.push_back(TooMany(path, fields->size(), kMaxSelectableFields));
    }
    std::set<std::string, std::less<>> seen;
    for (size_t i = 0; i < fields->size(); ++i) {
      const FieldPath item = path[i];
      const FieldPath at = item / "jsonPath";
      const std::string_view text = kube::FindString((*fields)[i], {"jsonPath"});
      if (text.empty()) {
        errors_.push_back(Required(at));
        continue;
      }
      const size_t before = errors_.size();
      CheckPath(text, at, /*simple=*/true, {});
      if (!seen.emplace(text).second) errors_.push_back(Duplicate(at, Text(text)));
      if (text == ".metadata" || text.starts_with(".metadata.")) {
        Add(at, text, "must not point to fields in metadata");
      } else if (errors_.size() == before) {
        CheckSelectableType(text, schema, at);
      }
    }
  }

  void CheckSelectableType(std::string_view text, const Json* schema, const FieldPath& path) {
    const Json* at = schema;
    for (const std::string_view step : Split(text.substr(1), '.')) {
      at = at == nullptr ? nullptr : kube::Find(*at, {"properties", step});
    }
    if (at == nullptr) {
      Add(path, text, "must point to a field that the schema specifies");
      return;
    }
    const std::string_view type = kube::FindString(*at, {"type"});
    if (type != "string" && type != "boolean" && type != "integer") {
      Add(path, text, "must point to a field of type string, boolean or integer");
    }
  }

  const Json& crd_;
  const FieldPath spec_path_{"spec"};
  FieldErrors errors_;
};

bool IsEstablished(const Json& crd) {
  const json::array* conditions = kube::FindArray(crd, {"status", "conditions"});
  return conditions != nullptr &&
         std::any_of(conditions->begin(), conditions->end(), [](const Json& condition) {
           return kube::FindString(condition, {"type"}) == "Established" &&
                  kube::FindString(condition, {"status"}) == "True";
         });
}

void CheckStoredVersions(const Json& crd, FieldErrors& errors) {
  const json::array* stored = kube::FindArray(crd, {"status", "storedVersions"});
  const json::array* versions = kube::FindArray(crd, {"spec", "versions"});
  const FieldPath status("status");
  const FieldPath path = status / "storedVersions";
  for (size_t i = 0; stored != nullptr && i < stored->size(); ++i) {
    const std::string_view name = kube::FindString((*stored)[i], {});
    const bool known = versions != nullptr &&
                       std::any_of(versions->begin(), versions->end(), [&](const Json& version) {
                         return kube::FindString(version, {"name"}) == name;
                       });
    if (!known) errors.push_back(Invalid(path[i], Text(name), "must appear in spec.versions"));
  }
}

}  // namespace

FieldErrors ValidateDefinition(const Json& crd) { return DefinitionValidator(crd).Validate(); }

FieldErrors ValidateDefinitionUpdate(const Json& crd, const Json& old) {
  FieldErrors errors;
  CheckUnchanged(crd, old, {"spec", "group"}, "spec.group", errors);
  CheckUnchanged(crd, old, {"spec", "names", "plural"}, "spec.names.plural", errors);
  // Until the names have been accepted, they may be corrected.
  if (IsEstablished(old)) {
    CheckUnchanged(crd, old, {"spec", "scope"}, "spec.scope", errors);
    CheckUnchanged(crd, old, {"spec", "names", "kind"}, "spec.names.kind", errors);
  }
  CheckStoredVersions(crd, errors);
  return errors;
}

}  // namespace koord::apiserver
