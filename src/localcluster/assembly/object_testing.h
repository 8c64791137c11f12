#pragma once
#include <string>

#include "kube/json.h"
#include "kube/resource.h"
#include "kube/yaml.h"

namespace koord::localcluster {

// An object from YAML that need not repeat what it is.
inline kube::Json ObjectFromYaml(const kube::Resource& resource, const std::string& yaml) {
  kube::Json object = *kube::ParseYaml(yaml);
  kube::At(object, {"apiVersion"}) = resource.api_version();
  kube::At(object, {"kind"}) = resource.kind;
  return object;
}

}  // namespace koord::localcluster
