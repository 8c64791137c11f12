#include "scheduler/plugins/reservation/offer.h"

#include <algorithm>

namespace koord::scheduler {

ResourceAmounts Offer::Allocated() const {
  ResourceAmounts allocated;
  for (const ResourceAmount& each : used) {
    if (IsAbout(each.id)) allocated.push_back(each);
  }
  return allocated;
}

int64_t Offer::Left(ResourceId id, const ResourceAmounts& freed) const {
  const int64_t in_use = std::max<int64_t>(0, AmountOf(used, id) - AmountOf(freed, id));
  return std::max<int64_t>(0, AmountOf(allocatable, id) - in_use - AmountOf(kept_back, id));
}

bool Offer::SharesNamesWith(const ResourceAmounts& requests) const {
  return std::ranges::any_of(requests,
                             [&](const ResourceAmount& each) { return IsAbout(each.id); });
}

void Count(Offer& offer, ResourceNames& resources) {
  const model::ReservationOffer& terms = offer.terms;
  offer.names = {};
  offer.allocatable = resources.AmountsIn(terms.allocatable, offer.names);
  offer.kept_back = resources.AmountsIn(terms.kept_back, offer.names);
  offer.resources.clear();
  for (const std::string& name : terms.resource_names) {
    if (const auto id = resources.Find(name)) offer.resources.push_back(*id);
  }
  offer.max_pods.reset();
  const auto places = terms.allocatable.find(kube::kPodCount);
  if (places != terms.allocatable.end()) offer.max_pods = places->second.Value();
}

}  // namespace koord::scheduler
