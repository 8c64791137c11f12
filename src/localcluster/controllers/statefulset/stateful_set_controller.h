#pragma once
#include <string>

#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Keeps the pods of StatefulSets.
class StatefulSetController final : public Controller {
 public:
  explicit StatefulSetController(ControllerContext& context);

 private:
  Plan Decide(const std::string& key) override;
};

}  // namespace koord::localcluster
