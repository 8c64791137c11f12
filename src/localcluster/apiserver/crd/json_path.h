#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/json.h"

namespace koord::apiserver {

// The JSONPath that custom resource definitions use for columns, scale and selectable fields:
// `.spec.replicas`, `.metadata.labels.app\.kubernetes\.io/name`, `['key']`, `[0]`, `[-1]`, `[1:3]`,
// `[0,2]`, `[*]`, `.*`, `..name`, `[?(@.type=="Ready")].status`. Braces around it and a leading `$`
// are allowed.
class JsonPath {
 public:
  static StatusOr<JsonPath> Parse(std::string_view text);

  // Results in document order. A path that leads nowhere has none.
  std::vector<const kube::Json*> All(const kube::Json& root) const;
  const kube::Json* First(const kube::Json& root) const;

  // True if the path is nothing but plain field names, as scale and selectable fields must be.
  bool simple() const;
  // The value of a simple path, made (with the objects above it) where it is missing.
  kube::Json& Make(kube::Json& root) const;

 private:
  struct Step;
  std::shared_ptr<const std::vector<Step>> steps_;
};

}  // namespace koord::apiserver
