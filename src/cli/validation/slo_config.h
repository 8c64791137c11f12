#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/validation/manifest.h"
#include "kube/objects/meta.h"
#include "manager/config/slo_config.h"
#include "manager/config/written_strategies.h"

namespace koord::validation {

// One strategy of a key of slo-controller-config as koord-manager has it in force: the cluster's,
// or that of some nodes.
struct Level {
  std::string path;   // inside of the key's document: "clusterStrategy", "nodeConfigs[1]"
  kube::Json own;     // as written
  kube::Json merged;  // over the cluster's, over the defaults
  bool is_cluster = false;
  std::optional<kube::LabelSelector> selector;

  bool Says(std::string_view member) const { return kube::Find(own, {member}) != nullptr; }
  // Of a member that is a number; also if it is the default.
  std::optional<double> Number(std::string_view member) const;
  bool IsOn(std::string_view member) const { return kube::FindBool(merged, {member}); }
};

// The ConfigMap, read and judged by koord-manager's own code. What is here besides is where in the
// file things stand, names that nobody knows, and advice about what may be written but fights.
class SloConfig {
 public:
  explicit SloConfig(const Manifest& manifest);

  static bool Is(const Manifest& manifest);

  // Looks at every key by itself, and then at each with the others.
  void Check();
  void Report(Findings& findings) const;

  // Of colocation-config and resource-threshold-config, the cluster's strategy first. Empty if the
  // key is absent or not in force.
  const std::vector<Level>& levels(std::string_view key) const;
  // Of two members that should be in order: `text` says what happens if they are not. Said where
  // the configuration says one of them; nowhere if both are defaults.
  struct Member {
    std::string_view key;
    const Level* level;
    std::string_view name;
  };
  void Warn(const Member& first, const Member& second, const std::string& text);

 private:
  void ReadKey(const std::string& key, const std::string& text);
  template <class S>
  void AddLevels(std::string_view key, const manager::StrategyTable<S>& table);
  void CheckEntries(std::string_view key, const manager::WrittenStrategies& written);
  void CheckRules(std::string_view key, const manager::WrittenStrategies& written);
  void CheckByManager();
  void CheckByWebhook(const std::string& key);

  // Advice: slo_advice.cc.
  void CheckThresholds();
  void CheckColocation();
  void CheckPair(const Level& colocation, const Level& threshold);
  void CheckQos();
  void CheckRatios();

  const Manifest& manifest_;
  manager::ConfigData data_;  // what can be read
  manager::ParsedConfig parsed_;
  std::map<std::string, kube::ConfigDocument, std::less<>> documents_;
  std::map<std::string, manager::WrittenStrategies, std::less<>> written_;
  std::map<std::string, std::vector<Level>, std::less<>> levels_;
  std::vector<Finding> others_;
};

}  // namespace koord::validation
