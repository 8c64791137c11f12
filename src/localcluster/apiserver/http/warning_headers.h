#pragma once
#include <string>
#include <vector>

namespace koord::apiserver {

// The values of the Warning headers for these texts, each text once. Together they show about 4,096
// characters: if that is not enough for all in full, none has more than 256 characters, and once
// the room is used up the others are left out. That is how much Kubernetes' clients and proxies are
// used to.
std::vector<std::string> WarningValues(const std::vector<std::string>& warnings);

}  // namespace koord::apiserver
