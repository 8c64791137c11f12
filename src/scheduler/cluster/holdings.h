#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/device.h"
#include "base/cpu_set.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {

// What a pod holds of its node beyond amounts: which CPUs, how much on which NUMA node, which
// shares of which devices, and the reservation that it draws from. Nearly all pods hold nothing.
//
// A Reserve plugin decides it, annotations carry it to the API server, and after a restart it is
// read from there: both ways to the same thing, and so equal.
struct Holdings {
  struct Reservation {
    std::string name;
    std::string uid;

    bool operator==(const Reservation&) const = default;
  };
  struct Zone {
    int32_t numa_node = 0;
    ResourceAmounts amounts;

    bool operator==(const Zone&) const = default;
  };
  struct Device {
    std::string type;
    int32_t minor = 0;
    ResourceAmounts amounts;
    std::vector<api::VirtualFunction> vfs;

    bool operator==(const Device&) const = default;
  };

  CpuSet cpus;
  std::vector<Zone> zones;
  std::vector<Device> devices;
  std::optional<Reservation> draws_from;
  // The pod is no pod but stands for this reservation, and holds what that reserves; or it is one
  // that acts as a reservation, and this is its own name.
  std::optional<Reservation> reserves;
  ResourceHold names;  // of the amounts

  bool empty() const {
    return cpus.empty() && zones.empty() && devices.empty() && !draws_from && !reserves;
  }
  bool operator==(const Holdings& other) const;
};

// Brings holdings into the one form in which equal ones are equal: in order, each NUMA node and
// each minor once, no zeros.
void Normalize(Holdings& holdings);

// What a pod's annotations say that it was given, in that form; null if nothing. A value that makes
// no sense stands for nothing, and `problems` gets why.
std::unique_ptr<Holdings> HoldingsOf(const kube::Pod& pod, ResourceNames& resources,
                                     std::vector<std::string>& problems);
// Two objects of a pod say the same of what it was given.
bool SayTheSame(const kube::Pod& a, const kube::Pod& b);

// Whether a pod stands for a reservation: it has the uid of that as its name, which no pod has that
// the API server knows, whatever its annotations say.
bool IsReservePod(const kube::Pod& pod);
// Whether a pod holds room for others: one that stands for a reservation, or that acts as one.
bool Reserves(const kube::Pod& pod);
Holdings::Reservation ReservedBy(const kube::Pod& reserving);

// "cpus 0-3, numa 0: cpu=4000, gpu 1: koordinator.sh/gpu-core=50, draws from r(uid)"
std::string ToString(const Holdings& holdings, const ResourceNames& resources);

}  // namespace koord::scheduler
