#include "koordlet/informers/volume_claims.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/objects/storage.h"
#include "kube/resources.h"

namespace koord::koordlet {
namespace {

constexpr Duration kAskAgain = std::chrono::minutes(1);
constexpr Duration kForgetAfter = std::chrono::minutes(30);
constexpr size_t kMaxClaims = 1024;

}  // namespace

std::string VolumeClaims::VolumeOf(std::string_view ns, std::string_view claim) {
  const SteadyTime now = loop_.clock().Steady();
  const std::string key = fmt::format("{}/{}", ns, claim);
  auto it = claims_.find(key);
  if (it == claims_.end()) {
    ForgetUnwanted();
    if (claims_.size() >= kMaxClaims) return "";
    it = claims_.emplace(key, Claim{.asked = now - kAskAgain}).first;
  }
  Claim& known = it->second;
  known.wanted = now;
  if (known.volume.empty() && now - known.asked >= kAskAgain) {
    known.asked = now;
    Ask(ns, claim);
  }
  return known.volume;
}

void VolumeClaims::Ask(std::string_view ns, std::string_view claim) {
  client_.Get(
      kube::kPersistentVolumeClaims, {std::string(ns), std::string(claim)},
      [this, alive = alive_, key = fmt::format("{}/{}", ns, claim)](auto answer) {
        if (!*alive) return;
        const auto it = claims_.find(key);
        if (it == claims_.end()) return;
        if (!answer.ok()) {
          LOG_WARNING("A claim of a pod cannot be read", {"claim", key}, {"err", answer.status()});
          return;
        }
        const auto read = kube::Decode<kube::PersistentVolumeClaim>(*answer);
        if (read.ok()) it->second.volume = read->spec.volume_name;
      });
}

void VolumeClaims::ForgetUnwanted() {
  const SteadyTime now = loop_.clock().Steady();
  absl::erase_if(claims_,
                 [&](const auto& entry) { return now - entry.second.wanted > kForgetAfter; });
}

}  // namespace koord::koordlet
