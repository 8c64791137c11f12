#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/setting_rules.h"
#include "base/status.h"
#include "kube/json.h"
#include "kube/objects/meta.h"

namespace koord::manager {

// One key of slo-controller-config as it is written, before anything is merged, whatever the type
// of its strategies. Members have the spelling of their structs.
struct WrittenStrategies {
  struct Entry {
    std::string name;
    std::string path;  // "nodeConfigs[1]"
    std::optional<kube::LabelSelector> selector;
    kube::Json strategy;
  };
  std::string_view cluster_path;  // "clusterStrategy"; empty where the document is the strategy
  kube::Json cluster;
  std::vector<Entry> entries;
};

// The rules that the strategies of a key are subject to; nothing for keys that have none.
std::optional<api::StrategyKind> StrategyKindOf(std::string_view key);

// An error if the text is not what koord-manager reads under the key.
StatusOr<WrittenStrategies> ReadStrategies(std::string_view key, std::string_view text);

}  // namespace koord::manager
