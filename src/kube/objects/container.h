#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/boxed.h"
#include "kube/objects/resource_list.h"

namespace koord::kube {

struct ContainerPort {
  std::string name;
  int32_t host_port = 0;
  int32_t container_port = 0;
  std::string protocol;
  std::string host_ip;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("hostPort", self.host_port);
    field("containerPort", Always(self.container_port));
    field("protocol", self.protocol);
    field("hostIP", self.host_ip);
  }
  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  std::string name;
  std::string image;
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;
  std::string restart_policy;  // of an init container: Always makes it a sidecar

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("image", self.image);
    field("ports", self.ports);
    field("resources", self.resources);
    field("restartPolicy", self.restart_policy);
  }
  bool operator==(const Container&) const = default;
};

// Starts among the init containers and then keeps running beside the others.
inline bool IsSidecar(const Container& init_container) {
  return init_container.restart_policy == "Always";
}

struct ContainerStateWaiting {
  std::string reason;
  std::string message;

  static void Fields(auto& self, auto&& field) {
    field("reason", self.reason);
    field("message", self.message);
  }
  bool operator==(const ContainerStateWaiting&) const = default;
};

struct ContainerStateRunning {
  std::optional<WallTime> started_at;

  static void Fields(auto& self, auto&& field) { field("startedAt", self.started_at); }
  bool operator==(const ContainerStateRunning&) const = default;
};

struct ContainerStateTerminated {
  int32_t exit_code = 0;
  int32_t signal = 0;
  std::string reason;
  std::string message;
  std::optional<WallTime> started_at;
  std::optional<WallTime> finished_at;
  std::string container_id;

  static void Fields(auto& self, auto&& field) {
    field("exitCode", Always(self.exit_code));
    field("signal", self.signal);
    field("reason", self.reason);
    field("message", self.message);
    field("startedAt", self.started_at);
    field("finishedAt", self.finished_at);
    field("containerID", self.container_id);
  }
  bool operator==(const ContainerStateTerminated&) const = default;
};

// At most one of the three; none means waiting.
struct ContainerState {
  Boxed<ContainerStateWaiting> waiting;
  Boxed<ContainerStateRunning> running;
  Boxed<ContainerStateTerminated> terminated;

  static void Fields(auto& self, auto&& field) {
    field("waiting", self.waiting);
    field("running", self.running);
    field("terminated", self.terminated);
  }
  bool operator==(const ContainerState&) const = default;
};

struct ContainerStatus {
  std::string name;
  ContainerState state;
  ContainerState last_state;
  bool ready = false;
  int32_t restart_count = 0;
  std::string image;
  std::string image_id;
  std::string container_id;  // "containerd://<id>"
  std::optional<bool> started;
  ResourceList allocated_resources;
  Boxed<ResourceRequirements> resources;  // what the node has put into effect

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("state", Always(self.state));
    field("lastState", Always(self.last_state));
    field("ready", Always(self.ready));
    field("restartCount", Always(self.restart_count));
    field("image", Always(self.image));
    field("imageID", Always(self.image_id));
    field("containerID", self.container_id);
    field("started", self.started);
    field("allocatedResources", self.allocated_resources);
    field("resources", self.resources);
  }
  bool operator==(const ContainerStatus&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Container);
KOORD_DECLARE_CODEC(koord::kube::ContainerStatus);
