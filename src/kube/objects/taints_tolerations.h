#pragma once
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "kube/codec.h"

namespace koord::kube {

inline constexpr std::string_view kNoSchedule = "NoSchedule";
inline constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";
inline constexpr std::string_view kNoExecute = "NoExecute";

// Taints that Kubernetes itself puts on nodes.
inline constexpr std::string_view kTaintNodeNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kTaintNodeUnreachable = "node.kubernetes.io/unreachable";
inline constexpr std::string_view kTaintNodeUnschedulable = "node.kubernetes.io/unschedulable";

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<WallTime> time_added;

  static void Fields(auto& self, auto&& field) {
    field("key", Always(self.key));
    field("value", self.value);
    field("effect", Always(self.effect));
    field("timeAdded", self.time_added);
  }
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key;  // empty: every key
  std::string op;   // Equal (also when empty), Exists
  std::string value;
  std::string effect;  // empty: every effect
  std::optional<int64_t> toleration_seconds;

  static void Fields(auto& self, auto&& field) {
    field("key", self.key);
    field("operator", self.op);
    field("value", self.value);
    field("effect", self.effect);
    field("tolerationSeconds", self.toleration_seconds);
  }
  bool operator==(const Toleration&) const = default;
};

bool Tolerates(const Toleration& toleration, const Taint& taint);
// Whether any of them does.
bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint);

// The first taint that keeps a pod off or drives it away (NoSchedule, NoExecute) and that none of
// the tolerations covers; null if the pod may be there.
const Taint* FindUntolerated(std::span<const Taint> taints,
                             std::span<const Toleration> tolerations);

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Taint);
KOORD_DECLARE_CODEC(koord::kube::Toleration);
