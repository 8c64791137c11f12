#pragma once
#include <string>

#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Keeps the pods of DaemonSets.
class DaemonSetController final : public Controller {
 public:
  explicit DaemonSetController(ControllerContext& context);

 private:
  Plan Decide(const std::string& key) override;
};

}  // namespace koord::localcluster
