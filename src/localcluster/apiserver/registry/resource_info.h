#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/resource.h"
#include "kube/schema/type.h"

namespace koord::apiserver {

struct Strategy;

// A column of `kubectl get` that a custom resource declares.
struct PrinterColumn {
  std::string name, type, format, description, json_path;
  int priority = 0;
};

struct Subresource {
  std::string name;                // "status"
  kube::Resource kind;             // what the endpoint speaks, e.g. policy/v1 Eviction
  std::vector<std::string> verbs;  // alphabetical
};

// A field that a field selector may name, and the member of the object that it looks at.
struct SelectableField {
  std::string name;               // "spec.nodeName"
  std::vector<std::string> path;  // {"spec", "nodeName"}
  std::string otherwise;          // what a missing member counts as
  std::string indexed_as;         // the path joined by dots: under which entries keep the value
};

// Everything that discovery, routing, printing and documentation need to know of one resource in
// one version. Built-in resources are described by `type`, custom ones by `schema`.
struct ResourceInfo {
  kube::Resource resource;
  std::string singular;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;  // alphabetical; not every resource has all
  std::vector<Subresource> subresources;
  std::vector<SelectableField> selectable_fields;  // besides metadata.name and metadata.namespace

  const kube::Type* type = nullptr;  // null for custom and schema-less resources
  // How objects of this resource live. Null means that of custom resources.
  const Strategy* strategy = nullptr;
  // Objects are stored under this name and in this version; versions of one resource share both,
  // and so do the two kinds of events. Empty: the resource's own.
  std::string storage_name;
  std::string storage_api_version;

  // Custom resources only.
  bool custom = false;
  kube::Json schema;  // openAPIV3Schema of this version
  std::vector<PrinterColumn> columns;
  std::string deprecation_warning;

  const Subresource* FindSubresource(std::string_view name) const;
  bool has_status() const { return FindSubresource("status") != nullptr; }
  bool HasVerb(std::string_view verb) const;
  std::string stored_as() const {
    return storage_name.empty() ? resource.qualified() : storage_name;
  }
  std::string stored_api_version() const {
    return storage_api_version.empty() ? resource.api_version() : storage_api_version;
  }
};
using ResourceInfoPtr = std::shared_ptr<const ResourceInfo>;

}  // namespace koord::apiserver
