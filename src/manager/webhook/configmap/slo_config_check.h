#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/config.h"
#include "kube/objects/node.h"
#include "kube/selectors.h"

namespace koord::manager::webhook {

// For whom a part of the configuration is, as far as conflicts between its entries go.
struct ConfigEntries {
  struct Entry {
    std::string name;
    kube::LabelSelector selector;
    kube::LabelMatcher matcher;
  };
  std::string_view key;  // "colocation-config"
  std::vector<Entry> entries;

  // The names of all entries that are for a node with these labels.
  std::vector<std::string> Matching(const kube::Labels& labels) const;
};

struct SloConfigCheck {
  bool check_names = false;  // entries need names, and different ones
};

// Whether the ConfigMap may be as it is; only what changed is looked at. `old` is null for a new
// one. Errors are what users see.
Status CheckSloConfig(const kube::ConfigMap& config, const kube::ConfigMap* old,
                      const std::vector<std::shared_ptr<const kube::Node>>& nodes,
                      const SloConfigCheck& options);

// Whether a node with these labels would be subject to several entries at once.
Status CheckNodeLabels(const std::string& node, const kube::Labels& labels,
                       const kube::ConfigMap& config);

}  // namespace koord::manager::webhook
