#include "kube/objects/taints_tolerations.h"

#include <algorithm>

namespace koord::kube {

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations,
                             [&](const Toleration& each) { return Tolerates(each, taint); });
}

const Taint* FindUntolerated(std::span<const Taint> taints,
                             std::span<const Toleration> tolerations) {
  for (const Taint& taint : taints) {
    if (taint.effect != kNoSchedule && taint.effect != kNoExecute) continue;
    if (!Tolerates(tolerations, taint)) return &taint;
  }
  return nullptr;
}

}  // namespace koord::kube

KOORD_DEFINE_CODEC(koord::kube::Taint);
KOORD_DEFINE_CODEC(koord::kube::Toleration);
