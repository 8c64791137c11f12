#pragma once
#include <vector>

#include "cli/validation/manifest.h"
#include "cli/validation/slo_config.h"

namespace koord::validation {

// Whether it is the configuration of a program instead of an object of the API.
bool IsConfigFile(const Manifest& manifest);

// As the program itself reads it.
void CheckConfigFile(const Manifest& manifest, Findings& findings);

// What schedulers, deschedulers and nodes do to each other: thresholds of different files.
void CheckTogether(const std::vector<Manifest>& manifests, const std::vector<SloConfig>& configs,
                   Findings& findings);

}  // namespace koord::validation
