#pragma once
#include <optional>
#include <string>

#include "base/status.h"
#include "kube/objects/node.h"
#include "manager/config/node_strategies.h"
#include "manager/config/strategies.h"

namespace koord::manager {

using AmplificationConfig = StrategyTable<AmplificationStrategy>;

// By how much the node's resources are to be amplified, as its annotation says it:
// {"cpu":1.80,"memory":2.50}. CPUs count for what they are worth besides, by the ratio that the
// node's own annotation has. Nothing where nothing is amplified; an error where the ratios cannot
// be, and then nothing is either.
StatusOr<std::optional<std::string>> AmplificationRatio(const kube::Node& node,
                                                        const AmplificationConfig& config);

}  // namespace koord::manager
