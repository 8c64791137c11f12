#pragma once
#include <map>
#include <string>
#include <string_view>

#include "kube/json.h"
#include "kube/schema/type.h"
#include "localcluster/apiserver/registry/resource_info.h"

namespace koord::apiserver {

enum class OpenApiVersion { kV2, kV3 };

// The schemas of a document, each once and with everything that it refers to.
class OpenApiSchemas {
 public:
  explicit OpenApiSchemas(OpenApiVersion version) : version_(version) {}

  // The kind of a resource, and the kinds that its subresources speak of.
  void AddResource(const ResourceInfo& info);

  // What the body of a patch is described by.
  kube::Json PatchReference();

  kube::json::object Take();

 private:
  void AddKind(const kube::Type& type, const kube::Resource& resource);
  void AddCustom(const ResourceInfo& info);
  void AddStruct(const kube::Type& type);
  kube::Json FieldSchema(const kube::Type::Field& field);
  kube::Json TypeSchema(const kube::Type& type);
  kube::Json Reference(std::string_view name) const;
  // Refers to a type that is written as a string, defining it on first use.
  kube::Json Scalar(std::string_view name, std::string_view format, std::string_view description);
  kube::Json QuantitySchema();
  kube::Json IntOrStringSchema();
  void AddGroupVersionKind(std::string_view definition, const kube::Resource& resource);

  OpenApiVersion version_;
  std::map<std::string, kube::json::object, std::less<>> definitions_;
};

// "sh.koordinator.scheduling.v1alpha1.Reservation"
std::string CustomDefinitionName(const kube::Resource& resource);

// {"group": "apps", "kind": "Deployment", "version": "v1"}
kube::Json GroupVersionKind(const kube::Resource& resource);

}  // namespace koord::apiserver
