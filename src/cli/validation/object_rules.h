#pragma once
#include <vector>

#include "cli/validation/manifest.h"

namespace koord::validation {

// What koord-manager's webhooks and Koordinator's other components make of single objects, beyond
// what their schemas say.
void CheckObject(const Manifest& manifest, Findings& findings);

// ElasticQuotas with each other: the tree that they make.
void CheckQuotas(const std::vector<Manifest>& manifests, Findings& findings);

// Labels and annotations that have a meaning, at `metadata` of an object or of a pod template.
enum class KeysOf { kPod, kNode, kOther };
void CheckKeys(const Manifest& manifest, const std::string& metadata, KeysOf of,
               Findings& findings);

}  // namespace koord::validation
