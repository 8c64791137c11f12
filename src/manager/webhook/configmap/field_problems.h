#pragma once
#include <map>
#include <string>
#include <string_view>

#include "api/setting_rules.h"
#include "kube/json.h"

// What is wrong with a strategy, in the words that users of the webhook know: fields are called as
// the types of the configuration call them ("CPUQOS.GroupIdentity must be 2 or less").
namespace koord::manager::webhook {

// Texts by the field's path.
using FieldProblems = std::map<std::string, std::string>;

// Adds what is wrong with one strategy, as its struct encodes it; `path` is where it stands.
void AddFieldProblems(api::StrategyKind kind, const kube::Json& strategy, const std::string& path,
                      FieldProblems& problems);

// "cpuSuppressThresholdPercent" as CPUSuppressThresholdPercent.
std::string TypeFieldName(std::string_view json_name);

}  // namespace koord::manager::webhook
