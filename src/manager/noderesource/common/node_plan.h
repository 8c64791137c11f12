#pragma once
#include <map>
#include <optional>
#include <string>

#include "kube/objects/meta.h"
#include "kube/quantity.h"

namespace koord::manager {

// How a node should look, as far as somebody has an opinion: an entry without a value is to be
// removed, what has no entry is left alone.
struct NodePlan {
  using Resources = std::map<std::string, std::optional<kube::Quantity>, std::less<>>;
  using Texts = std::map<std::string, std::optional<std::string>, std::less<>>;

  Resources resources;  // of both capacity and allocatable
  Texts annotations;
  kube::Labels labels;  // labels are never removed
};

}  // namespace koord::manager
