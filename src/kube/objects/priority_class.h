#pragma once
#include <string>

#include "kube/objects/meta.h"

namespace koord::kube {

struct PriorityClass {
  ObjectMeta metadata;
  int32_t value = 0;
  bool global_default = false;
  std::string description;
  std::string preemption_policy;  // PreemptLowerPriority (also when empty), Never

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("value", Always(self.value));
    field("globalDefault", self.global_default);
    field("description", self.description);
    field("preemptionPolicy", self.preemption_policy);
  }
  bool operator==(const PriorityClass&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::PriorityClass);
