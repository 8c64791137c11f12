#pragma once
#include <map>
#include <string>
#include <string_view>

#include "kube/json.h"

// The bounds of what slo-controller-config may say.
namespace koord::manager::webhook {

// What is wrong, by the field's path in the words of the configuration's types.
using FieldProblems = std::map<std::string, std::string>;

// Each looks at one strategy, as its struct encodes it. Where a field must be larger than another
// that the strategy does not mention, `under` has the level below: the cluster's strategy for that
// of some nodes; null if there is none.
struct StrategyPlace {
  const kube::Json& strategy;
  const kube::Json* under = nullptr;
  std::string path;
};
void CheckColocation(const StrategyPlace& place, FieldProblems& problems);
void CheckThreshold(const StrategyPlace& place, FieldProblems& problems);
void CheckResourceQos(const StrategyPlace& place, FieldProblems& problems);
void CheckSystem(const StrategyPlace& place, FieldProblems& problems);
void CheckCpuBurst(const StrategyPlace& place, FieldProblems& problems);

// "cpuSuppressThresholdPercent" as CPUSuppressThresholdPercent.
std::string TypeFieldName(std::string_view json_name);

}  // namespace koord::manager::webhook
