#pragma once
#include <optional>

#include "koordlet/hooks/engine/hook_plugin.h"

// How much more a CPU of this node is worth than the one that quotas were written for.
namespace koord::koordlet::hooks {

// Follows the node's annotation.
class NormalizationRatio {
 public:
  explicit NormalizationRatio(const HookEnv& env) : env_(env) {}

  // True: it is another one, by 0.01 or more. A malformed annotation changes nothing.
  bool Update();
  // None: the node is not normalized.
  const std::optional<double>& value() const { return value_; }
  // A quota of CPU time here.
  Limit Normalize(Limit quota) const;

 private:
  const HookEnv& env_;
  std::optional<double> value_;
};

}  // namespace koord::koordlet::hooks
