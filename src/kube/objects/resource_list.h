#pragma once
#include <map>
#include <string>
#include <string_view>

#include "kube/codec.h"
#include "kube/quantity.h"

namespace koord::kube {

// Two lists are equal (==) when they have the same names with the same amounts, however written.
using ResourceList = std::map<std::string, Quantity, std::less<>>;

inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kPodCount = "pods";
inline constexpr std::string_view kHugePagesPrefix = "hugepages-";

// The amount under a name; a resource that is not listed counts as zero.
Quantity AmountOf(const ResourceList& list, std::string_view name);

void AddTo(ResourceList& sum, const ResourceList& more);
// May leave negative amounts; names that only `less` has are subtracted from zero.
void SubtractFrom(ResourceList& rest, const ResourceList& less);
// The larger amount of each name.
void RaiseTo(ResourceList& list, const ResourceList& at_least);

bool IsZero(const ResourceList& list);
// Every amount of `need` is at most the one in `have`.
bool FitsIn(const ResourceList& need, const ResourceList& have);

struct ResourceRequirements {
  ResourceList limits;
  ResourceList requests;

  static void Fields(auto& self, auto&& field) {
    field("limits", self.limits);
    field("requests", self.requests);
  }
  bool operator==(const ResourceRequirements&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::ResourceRequirements);
