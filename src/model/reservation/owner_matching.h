#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "base/status.h"
#include "kube/objects/pod.h"
#include "kube/selectors.h"

namespace koord::model {

// The pods that may use a reservation. Any item of the list will do, and all of what an item says
// must hold; an empty item holds for every pod, an empty list for none.
class OwnerMatcher {
 public:
  OwnerMatcher() = default;  // of nobody
  static StatusOr<OwnerMatcher> Of(const std::vector<api::ReservationOwner>& owners);

  bool Matches(const kube::Pod& pod) const;
  bool empty() const { return items_.empty(); }  // matches nobody

  // For an index: a pod that matches has one of these among its OwnerKeysOf.
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  struct Item {
    std::optional<kube::ObjectReference> object;
    std::optional<api::ReservationControllerReference> controller;
    std::optional<kube::LabelMatcher> labels;

    bool Matches(const kube::Pod& pod) const;
    // The narrowest that are known.
    std::vector<std::string> Keys() const;
  };

  std::vector<Item> items_;
  std::vector<std::string> keys_;  // sorted, each once
};

// All keys under which owners that match this pod may be found.
std::vector<std::string> OwnerKeysOf(const kube::Pod& pod);

}  // namespace koord::model
