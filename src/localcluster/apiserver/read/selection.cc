#include "localcluster/apiserver/read/selection.h"

#include <algorithm>

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/versions.h"

namespace koord::apiserver {
namespace {

std::string_view NameIn(std::string_view key) {
  const size_t slash = key.find('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

std::string_view NamespaceIn(std::string_view key) {
  const size_t slash = key.find('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
}

Status Unsupported(const ResourceInfo& info, std::string_view field) {
  if (info.custom || !info.selectable_fields.empty()) {
    return BadRequest("field label not supported: {}", field);
  }
  return BadRequest(
      "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
      field);
}

}  // namespace

StatusOr<Selection> Selection::Of(const Request& request) {
  Selection selection;
  if (const std::string_view text = request.query.Get("labelSelector"); !text.empty()) {
    auto labels = kube::LabelMatcher::Parse(text);
    if (!labels.ok()) return BadRequest("{}", Message(labels.status()));
    selection.labels_ = std::move(*labels);
  }
  if (const std::string_view text = request.query.Get("fieldSelector"); !text.empty()) {
    const auto fields = kube::FieldMatcher::Parse(text);
    if (!fields.ok()) return BadRequest("{}", Message(fields.status()));
    for (const auto& requirement : fields->requirements()) {
      ASSIGN_OR_RETURN(Field field, Resolve(*request.info, requirement));
      selection.fields_.push_back(std::move(field));
    }
  }
  if (!request.name.empty()) {
    Field field;
    field.source = Field::Source::kName;
    field.value = request.name;
    selection.fields_.push_back(std::move(field));
  }
  return selection;
}

StatusOr<Selection::Field> Selection::Resolve(const ResourceInfo& info,
                                              const kube::FieldMatcher::Requirement& requirement) {
  Field field;
  field.value = requirement.value;
  field.equal = requirement.equal;
  if (requirement.field == "metadata.name") {
    field.source = Field::Source::kName;
    return field;
  }
  if (requirement.field == "metadata.namespace" && info.resource.namespaced) {
    field.source = Field::Source::kNamespace;
    return field;
  }
  for (const SelectableField& known : info.selectable_fields) {
    if (known.name != requirement.field) continue;
    field.source = info.custom ? Field::Source::kDocument : Field::Source::kIndex;
    field.known = known;
    return field;
  }
  return Unsupported(info, requirement.field);
}

bool Selection::HasValue(const Field& field, const Entry& entry) {
  switch (field.source) {
    case Field::Source::kName:
      return NameIn(entry.key) == field.value;
    case Field::Source::kNamespace:
      return NamespaceIn(entry.key) == field.value;
    case Field::Source::kIndex:
      return IndexedField(entry, field.known.indexed_as) == field.value;
    case Field::Source::kDocument: {
      const auto object = kube::ParseShortLivedJson(entry.value);
      return object.ok() && FieldText(field.known, *object) == field.value;
    }
  }
  return false;
}

bool Selection::Matches(const Entry& entry) const {
  if (!labels_.empty() && !labels_.Matches(entry.labels)) return false;
  return std::all_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return HasValue(field, entry) == field.equal; });
}

}  // namespace koord::apiserver
