#pragma once
#include <optional>
#include <string>

#include "kube/objects/meta.h"
#include "kube/time.h"

namespace koord::kube {

struct LeaseSpec {
  std::optional<std::string> holder_identity;
  std::optional<int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  std::optional<int32_t> lease_transitions;

  static void Fields(auto& self, auto&& field) {
    field("holderIdentity", self.holder_identity);
    field("leaseDurationSeconds", self.lease_duration_seconds);
    field("acquireTime", self.acquire_time);
    field("renewTime", self.renew_time);
    field("leaseTransitions", self.lease_transitions);
  }
  bool operator==(const LeaseSpec&) const = default;
};

struct Lease {
  ObjectMeta metadata;
  LeaseSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const Lease&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Lease);
