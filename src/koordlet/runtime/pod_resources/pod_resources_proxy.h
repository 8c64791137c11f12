#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "base/status.h"
#include "koordlet/informers/node_pod.h"

namespace koord {
class AsioLoop;
}

namespace koord::koordlet {

// Devices that the scheduler gave to a pod, in the words of a device plugin.
struct GivenDevices {
  std::string resource;          // "nvidia.com/gpu"
  std::vector<std::string> ids;  // GPUs by their uuids, RDMA devices by their bus ids
  bool operator==(const GivenDevices&) const = default;
};
using DevicesOfPods = std::map<std::string, std::vector<GivenDevices>, std::less<>>;  // "ns/name"

// By the pods' annotations, as far as the node has such devices.
DevicesOfPods ReadGivenDevices(const NodePods& pods, const api::Device* device);

// Answers those who want to know which pods have which devices, in the kubelet's place: monitors of
// GPUs ask the kubelet, which does not know of devices that the scheduler has given out. The
// kubelet's answer is passed on with these devices added to the first container of their pods.
class PodResourcesProxy {
 public:
  struct Options {
    std::string socket;          // to listen on
    std::string kubelet_socket;  // to ask
  };

  static StatusOr<std::unique_ptr<PodResourcesProxy>> Start(AsioLoop& loop, const Options& options);
  ~PodResourcesProxy();

  void SetDevices(DevicesOfPods devices);

 private:
  class Impl;
  explicit PodResourcesProxy(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::koordlet
