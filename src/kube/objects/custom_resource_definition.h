#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"

namespace koord::kube {

struct CustomResourceNames {
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::string kind;
  std::string list_kind;
  std::vector<std::string> categories;

  static void Fields(auto& self, auto&& field) {
    field("plural", Always(self.plural));
    field("singular", self.singular);
    field("shortNames", self.short_names);
    field("kind", Always(self.kind));
    field("listKind", self.list_kind);
    field("categories", self.categories);
  }
  bool operator==(const CustomResourceNames&) const = default;
};

struct CustomResourceScale {
  std::string spec_replicas_path;
  std::string status_replicas_path;
  std::string label_selector_path;

  static void Fields(auto& self, auto&& field) {
    field("specReplicasPath", Always(self.spec_replicas_path));
    field("statusReplicasPath", Always(self.status_replicas_path));
    field("labelSelectorPath", self.label_selector_path);
  }
  bool operator==(const CustomResourceScale&) const = default;
};

struct CustomResourceSubresources {
  std::optional<Json> status;  // present: status is written through /status
  std::optional<CustomResourceScale> scale;

  static void Fields(auto& self, auto&& field) {
    field("status", self.status);
    field("scale", self.scale);
  }
  bool operator==(const CustomResourceSubresources&) const = default;
};

struct CustomResourceColumn {
  std::string name;
  std::string type;
  std::string format;
  std::string description;
  int32_t priority = 0;
  std::string json_path;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("type", Always(self.type));
    field("format", self.format);
    field("description", self.description);
    field("priority", self.priority);
    field("jsonPath", Always(self.json_path));
  }
  bool operator==(const CustomResourceColumn&) const = default;
};

struct CustomResourceValidation {
  Json open_api_v3_schema;

  static void Fields(auto& self, auto&& field) {
    field("openAPIV3Schema", self.open_api_v3_schema);
  }
  bool operator==(const CustomResourceValidation&) const = default;
};

struct SelectableField {
  std::string json_path;

  static void Fields(auto& self, auto&& field) { field("jsonPath", Always(self.json_path)); }
  bool operator==(const SelectableField&) const = default;
};

struct CustomResourceVersion {
  std::string name;
  bool served = false;
  bool storage = false;
  bool deprecated = false;
  std::string deprecation_warning;
  std::optional<CustomResourceValidation> schema;
  std::optional<CustomResourceSubresources> subresources;
  std::vector<CustomResourceColumn> additional_printer_columns;
  std::vector<SelectableField> selectable_fields;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("served", Always(self.served));
    field("storage", Always(self.storage));
    field("deprecated", self.deprecated);
    field("deprecationWarning", self.deprecation_warning);
    field("schema", self.schema);
    field("subresources", self.subresources);
    field("additionalPrinterColumns", self.additional_printer_columns);
    field("selectableFields", self.selectable_fields);
  }
  bool operator==(const CustomResourceVersion&) const = default;
};

struct CustomResourceConversion {
  std::string strategy;  // None, Webhook
  Json webhook;

  static void Fields(auto& self, auto&& field) {
    field("strategy", Always(self.strategy));
    field("webhook", self.webhook);
  }
  bool operator==(const CustomResourceConversion&) const = default;
};

struct CustomResourceDefinitionSpec {
  std::string group;
  CustomResourceNames names;
  std::string scope;  // Namespaced, Cluster
  std::vector<CustomResourceVersion> versions;
  std::optional<CustomResourceConversion> conversion;
  bool preserve_unknown_fields = false;

  static void Fields(auto& self, auto&& field) {
    field("group", Always(self.group));
    field("names", Always(self.names));
    field("scope", Always(self.scope));
    field("versions", Always(self.versions));
    field("conversion", self.conversion);
    field("preserveUnknownFields", self.preserve_unknown_fields);
  }
  bool operator==(const CustomResourceDefinitionSpec&) const = default;
};

struct CustomResourceDefinitionStatus {
  std::vector<Condition> conditions;
  std::optional<CustomResourceNames> accepted_names;
  std::vector<std::string> stored_versions;

  static void Fields(auto& self, auto&& field) {
    field("conditions", self.conditions);
    field("acceptedNames", self.accepted_names);
    field("storedVersions", self.stored_versions);
  }
  bool operator==(const CustomResourceDefinitionStatus&) const = default;
};

struct CustomResourceDefinition {
  ObjectMeta metadata;
  CustomResourceDefinitionSpec spec;
  CustomResourceDefinitionStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const CustomResourceDefinition&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::CustomResourceDefinition);
