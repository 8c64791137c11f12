#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/metrics/metrics.h"
#include "base/status.h"
#include "component/flags.h"

namespace koord::component {

// The features that a user may switch on or off with --feature-gates=A=true,B=false.
//
// AllAlpha and AllBeta switch all of a stage that are not named themselves. A feature without
// effect is known all the same, so that command lines for other versions work.
class FeatureGates {
 public:
  enum class Stage { kAlpha, kBeta, kStable, kDeprecated };

  FeatureGates();

  // `locked`: cannot be changed any more; to ask for what it is anyway is no error.
  void Add(std::string_view name, bool enabled, Stage stage = Stage::kAlpha, bool locked = false);

  // An unknown name is an error that tells which might have been meant. Nothing changes then.
  Status Set(std::string_view text);
  Status Set(const std::map<std::string, bool>& values);

  bool Enabled(std::string_view name) const;  // false for a feature that was never added

  void AddFlag(Flags::Group& group);
  // kubernetes_feature_enabled
  void AddMetrics(metrics::Registry& registry) const;

 private:
  struct Gate {
    Stage stage;
    bool initial, enabled, locked;
    bool set = false;
  };
  std::map<std::string, Gate, std::less<>> gates_;
};

}  // namespace koord::component
