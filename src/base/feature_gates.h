#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace koord {

enum class FeatureStage { kAlpha, kBeta, kStable, kDeprecated };

std::string_view ToString(FeatureStage stage);  // ALPHA, BETA, "" and DEPRECATED, as metrics say

// A line of a program's table of switches.
struct FeatureGate {
  std::string_view name;  // a literal
  FeatureStage stage = FeatureStage::kAlpha;
  bool enabled = false;
  bool locked = false;  // may only be set to what it is
};

// The switches of a program, as --feature-gates sets them: "ResizePod=true,AllBeta=false". AllAlpha
// and AllBeta stand for every gate of their stage that is not set by name.
class FeatureGates {
 public:
  using Tables = std::initializer_list<std::span<const FeatureGate>>;

  // `without_effect`: gates that users of other releases may set, and nothing reads.
  explicit FeatureGates(Tables tables, Tables without_effect = {});

  // May be called repeatedly; a later value wins. What is wrong is said of all entries at once, and
  // nothing is set then.
  Status Set(std::string_view text);

  // The gate must be in a table.
  bool Enabled(std::string_view name) const;

  // What the user should know about gates that were set: that they are going away.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // A sentence for each gate that is not as it usually is although nothing reads it; one for all
  // that AllAlpha and AllBeta have changed.
  std::vector<std::string> WithoutEffect() const;

  // Sorted by name, with their present values.
  std::vector<FeatureGate> List() const;

 private:
  struct State {
    FeatureGate gate;
    bool usual;  // its default
    bool has_effect = true;
    bool set_by_name = false;
  };
  struct Setting {
    std::string name;
    bool value = false;
  };

  using Gates = std::map<std::string_view, State>;  // names are those of the tables

  static void Add(Gates& gates, Tables tables, bool has_effect);
  StatusOr<Setting> Parse(std::string_view entry) const;
  void Apply(const Setting& setting, Gates& gates);

  std::shared_ptr<const Gates> gates_;  // copies share them until one is set
  std::vector<std::string> warnings_;
};

}  // namespace koord
