#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/resource.h"
#include "kube/schema/type.h"

namespace koord::apiserver {

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

  const kube::Type* type = nullptr;  // null for custom and schema-less resources

  // Custom resources only.
  bool custom = false;
  kube::Json schema;  // openAPIV3Schema of this version
  std::vector<PrinterColumn> columns;
  std::string deprecation_warning;

  const Subresource* FindSubresource(std::string_view name) const;
  bool has_status() const { return FindSubresource("status") != nullptr; }
};
using ResourceInfoPtr = std::shared_ptr<const ResourceInfo>;

}  // namespace koord::apiserver
