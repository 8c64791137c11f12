#pragma once
#include <cstdint>
#include <string_view>

#include "kube/objects/pod.h"

namespace koord::api {

// How a pod shares its node with others.
enum class QosClass : uint8_t {
  kNone,    // unspecified
  kLse,     // latency sensitive, exclusive: CPUs of its own that nobody shares
  kLsr,     // latency sensitive, reserved: CPUs of its own whose idle cycles BE may use
  kLs,      // latency sensitive, shared: the common pool of CPUs
  kBe,      // best effort: what the others leave
  kSystem,  // daemons of the node
};

std::string_view ToString(QosClass qos);        // "" for none
QosClass ParseQosClass(std::string_view text);  // exactly as ToString writes it, none otherwise

// What the label says.
QosClass RawQosClass(const kube::Labels& pod_labels);
// What the label says, or what follows from Kubernetes' class where it says nothing.
QosClass QosClassOf(const kube::Pod& pod);

}  // namespace koord::api
