#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "kube/json.h"

namespace koord::localcluster {

// A short name part ("5d9c7b8f6") that is the same for equal documents, whatever the order of their
// members. `collisions` gives another one when the first is taken by a different document.
std::string HashName(const kube::Json& document, std::optional<int32_t> collisions);

// A pod template without the label that says which hash it has.
kube::Json WithoutTemplateHash(const kube::Json& pod_template);

inline constexpr const char* kPodTemplateHash = "pod-template-hash";
inline constexpr const char* kControllerRevisionHash = "controller-revision-hash";

}  // namespace koord::localcluster
