#pragma once

namespace koord {

// Of every program of this project.
inline constexpr char kVersion[] = "v0.1.0";
// What the local cluster says it is; clients enable features by it.
inline constexpr char kKubernetesVersion[] = "v1.35.0+koordinator";

}  // namespace koord
