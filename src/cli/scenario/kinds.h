#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/scenario/environment.h"
#include "kube/resource.h"

namespace koord::scenario {

// Which resource a kind stands for, as the cluster's discovery says. Asked again when a kind is
// unknown, since a scenario may install its own definitions.
class Kinds {
 public:
  explicit Kinds(Environment& environment) : environment_(environment) {}

  // `api_version` may be empty where the kind is unique; the core group wins over others.
  StatusOr<kube::Resource> Find(std::string_view api_version, std::string_view kind);

 private:
  StatusOr<const kube::Resource*> Lookup(std::string_view api_version, std::string_view kind) const;
  Status Load();

  Environment& environment_;
  std::vector<kube::Resource> resources_;
};

}  // namespace koord::scenario
