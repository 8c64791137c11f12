#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/config.h"
#include "kube/objects/pod.h"

namespace koord::manager::webhook {

// Labels that an administrator wants pods to have, by the rules of a ConfigMap.
//
// Without the ConfigMap, or unless it says enable, nothing is asked. Rules that cannot be read
// leave the last ones in force.
class EnhancedValidator {
 public:
  // The error is what users see.
  Status Check(const kube::Pod& pod, std::string_view ns,
               const std::shared_ptr<const kube::ConfigMap>& config);

 private:
  struct Rule {
    std::string name;
    std::vector<std::string> required_labels;
    std::vector<std::string> namespace_whitelist;

    static void Fields(auto& self, auto&& field) {
      field("name", self.name);
      field("requiredLabels", self.required_labels);
      field("namespaceWhitelist", self.namespace_whitelist);
    }
  };

  void Load(const kube::ConfigMap* config);

  std::shared_ptr<const kube::ConfigMap> loaded_;
  bool enabled_ = false;
  std::vector<Rule> rules_;
};

}  // namespace koord::manager::webhook
