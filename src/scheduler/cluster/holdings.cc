#include "scheduler/cluster/holdings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "api/cpu_annotations.h"
#include "api/device_annotations.h"
#include "api/keys.h"
#include "api/reservation_annotations.h"

namespace koord::scheduler {
namespace {

constexpr std::array kHoldingKeys{api::kAnnotationResourceStatus, api::kAnnotationDeviceAllocated,
                                  api::kAnnotationReservationAllocated};

// Makes one of neighbours with the same key.
template <class T, class Key, class Merge>
void SortAndMerge(std::vector<T>& list, Key key, Merge merge) {
  std::ranges::stable_sort(list, {}, key);
  std::vector<T> merged;
  for (T& each : list) {
    if (!merged.empty() && key(merged.back()) == key(each)) {
      merge(merged.back(), each);
    } else {
      merged.push_back(std::move(each));
    }
  }
  list = std::move(merged);
}

StatusOr<ResourceAmounts> AmountsIn(const kube::ResourceList& list, ResourceNames& resources,
                                    ResourceHold& names) {
  for (const auto& [name, amount] : list) {
    if (amount.Sign() < 0) {
      return InvalidArgument("{}: expected an amount that is not negative, found {}", name,
                             amount.ToString());
    }
  }
  return resources.AmountsIn(list, names);
}

Status ReadCpus(const kube::Pod& pod, ResourceNames& resources, Holdings& into) {
  ASSIGN_OR_RETURN(const auto status, api::ResourceStatusOf(pod.metadata.annotations));
  if (!status) return {};
  ASSIGN_OR_RETURN(CpuSet cpus, CpuSet::Parse(status->cpuset));
  std::vector<Holdings::Zone> zones;
  for (const api::NumaNodeResource& each : status->numa_node_resources) {
    if (!CpuSet::IsCpu(each.node)) {
      return InvalidArgument("numaNodeResources.node: expected a NUMA node, found {}", each.node);
    }
    ASSIGN_OR_RETURN(ResourceAmounts amounts, AmountsIn(each.resources, resources, into.names));
    zones.push_back({each.node, std::move(amounts)});
  }
  into.cpus = std::move(cpus);
  into.zones = std::move(zones);
  return {};
}

Status ReadDevices(const kube::Pod& pod, ResourceNames& resources, Holdings& into) {
  ASSIGN_OR_RETURN(const auto allocated, api::DeviceAllocationsOf(pod.metadata.annotations));
  if (!allocated) return {};
  std::vector<Holdings::Device> devices;
  for (const auto& [type, shares] : *allocated) {
    for (const api::DeviceAllocation& share : shares) {
      if (share.minor < 0) {
        return InvalidArgument("{}.minor: expected a number that is not negative, found {}", type,
                               share.minor);
      }
      ASSIGN_OR_RETURN(ResourceAmounts amounts, AmountsIn(share.resources, resources, into.names));
      devices.push_back(
          {.type = type,
           .minor = share.minor,
           .amounts = std::move(amounts),
           .vfs = share.extension ? share.extension->vfs : std::vector<api::VirtualFunction>()});
    }
  }
  into.devices = std::move(devices);
  return {};
}

Status ReadReservation(const kube::Pod& pod, Holdings& into) {
  ASSIGN_OR_RETURN(const auto allocated, api::ReservationAllocatedOf(pod.metadata.annotations));
  if (!allocated) return {};
  if (allocated->uid.empty()) return InvalidArgument("uid: expected that of a reservation");
  into.draws_from = Holdings::Reservation{allocated->name, allocated->uid};
  return {};
}

std::string ToString(const ResourceAmounts& amounts, const ResourceNames& resources) {
  std::vector<std::string> texts;  // by name: ids differ between runs
  for (const ResourceAmount& each : amounts) {
    texts.push_back(fmt::format("{}={}", resources.NameOf(each.id), each.amount));
  }
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace

bool Holdings::operator==(const Holdings& other) const {
  return cpus == other.cpus && zones == other.zones && devices == other.devices &&
         draws_from == other.draws_from && reserves == other.reserves;
}

void Normalize(Holdings& holdings) {
  SortAndMerge(
      holdings.zones, [](const Holdings::Zone& zone) { return zone.numa_node; },
      [](Holdings::Zone& into, const Holdings::Zone& more) { AddTo(into.amounts, more.amounts); });
  for (Holdings::Zone& zone : holdings.zones) DropZeros(zone.amounts);
  std::erase_if(holdings.zones, [](const Holdings::Zone& zone) { return zone.amounts.empty(); });
  SortAndMerge(
      holdings.devices,
      [](const Holdings::Device& device) {
        return std::tuple<const std::string&, int32_t>(device.type, device.minor);
      },
      [](Holdings::Device& into, const Holdings::Device& more) {
        AddTo(into.amounts, more.amounts);
        into.vfs.insert(into.vfs.end(), more.vfs.begin(), more.vfs.end());
      });
  const auto name_of = [](const api::VirtualFunction& vf) {
    return std::tuple<const std::string&, int32_t>(vf.bus_id, vf.minor);
  };
  for (Holdings::Device& device : holdings.devices) {
    DropZeros(device.amounts);
    SortAndMerge(device.vfs, name_of, [](api::VirtualFunction&, const api::VirtualFunction&) {});
  }
  std::erase_if(holdings.devices, [](const Holdings::Device& device) {
    return device.amounts.empty() && device.vfs.empty();
  });
}

std::unique_ptr<Holdings> HoldingsOf(const kube::Pod& pod, ResourceNames& resources,
                                     std::vector<std::string>& problems) {
  const auto says = [&](std::string_view key) {
    return kube::FindValue(pod.metadata.annotations, key) != nullptr;
  };
  const bool reserves = Reserves(pod);
  if (!reserves && std::ranges::none_of(kHoldingKeys, says)) return nullptr;
  auto held = std::make_unique<Holdings>();
  const auto read = [&](std::string_view key, const Status& status) {
    if (!status.ok()) problems.push_back(fmt::format("{}: {}", key, Message(status)));
  };
  read(api::kAnnotationResourceStatus, ReadCpus(pod, resources, *held));
  read(api::kAnnotationDeviceAllocated, ReadDevices(pod, resources, *held));
  if (reserves) held->reserves = ReservedBy(pod);
  if (!IsReservePod(pod)) read(api::kAnnotationReservationAllocated, ReadReservation(pod, *held));
  Normalize(*held);
  return held->empty() ? nullptr : std::move(held);
}

bool SayTheSame(const kube::Pod& a, const kube::Pod& b) {
  return std::ranges::all_of(kHoldingKeys, [&](std::string_view key) {
    const std::string* x = kube::FindValue(a.metadata.annotations, key);
    const std::string* y = kube::FindValue(b.metadata.annotations, key);
    return x == nullptr || y == nullptr ? x == y : *x == *y;
  });
}

bool IsReservePod(const kube::Pod& pod) {
  return pod.metadata.name == pod.metadata.uid &&
         kube::ValueOf(pod.metadata.annotations, api::kAnnotationReservePod) == "true";
}

bool Reserves(const kube::Pod& pod) {
  return IsReservePod(pod) || api::IsInReservationMode(pod.metadata.labels);
}

Holdings::Reservation ReservedBy(const kube::Pod& pod) {
  const kube::ObjectMeta& meta = pod.metadata;
  if (!IsReservePod(pod)) return {meta.name, meta.uid};
  return {std::string(kube::ValueOf(meta.annotations, api::kAnnotationReservationName)), meta.uid};
}

std::string ToString(const Holdings& holdings, const ResourceNames& resources) {
  std::vector<std::string> texts;
  if (!holdings.cpus.empty()) texts.push_back(fmt::format("cpus {}", holdings.cpus.ToString()));
  for (const Holdings::Zone& zone : holdings.zones) {
    texts.push_back(fmt::format("numa {}: {}", zone.numa_node, ToString(zone.amounts, resources)));
  }
  for (const Holdings::Device& device : holdings.devices) {
    texts.push_back(
        fmt::format("{} {}: {}", device.type, device.minor, ToString(device.amounts, resources)));
    for (const api::VirtualFunction& vf : device.vfs) {
      texts.back() += fmt::format(" vf {}({})", vf.minor, vf.bus_id);
    }
  }
  const auto add = [&](std::string_view how, const std::optional<Holdings::Reservation>& which) {
    if (which) texts.push_back(fmt::format("{} {}({})", how, which->name, which->uid));
  };
  add("draws from", holdings.draws_from);
  add("reserves for", holdings.reserves);
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace koord::scheduler
