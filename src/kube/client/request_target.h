#pragma once
#include <string>
#include <string_view>

#include "kube/resource.h"

namespace koord::kube {

// Paths of the API. Names are percent-encoded.
std::string CollectionPath(const Resource& resource, std::string_view ns);  // empty ns: all of them
std::string ObjectPath(const Resource& resource, const ObjectKey& key,
                       std::string_view subresource = {});

// Appends a query to a path; empty values are left out.
class TargetBuilder {
 public:
  explicit TargetBuilder(std::string path) : target_(std::move(path)) {}

  TargetBuilder& Add(std::string_view name, std::string_view value);
  std::string Take() { return std::move(target_); }

 private:
  std::string target_;
  bool has_query_ = false;
};

}  // namespace koord::kube
