#pragma once

namespace koord {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How often a test repeats a random experiment: a tenth as often under a sanitizer, which makes
// each round about ten times as long.
constexpr int TestRounds(int usual) { return kSanitized ? (usual + 9) / 10 : usual; }

}  // namespace koord
