#include "koordlet/testing/test_pod.h"

#include <algorithm>
#include <cstdlib>

#include "kube/yaml.h"

namespace koord::koordlet {
namespace {

template <class T>
T FromYaml(std::string_view yaml) {
  const auto give_up = [yaml](const Status& status) {
    fmt::print(stderr, "bad test data: {}\n{}\n", Message(status), yaml);
    std::abort();
  };
  const StatusOr<kube::Json> json = kube::ParseYaml(yaml);
  if (!json.ok()) give_up(json.status());
  StatusOr<T> object = kube::Decode<T>(*json);
  if (!object.ok()) give_up(object.status());
  return std::move(*object);
}

bool HasStatus(const std::vector<kube::ContainerStatus>& statuses, std::string_view name) {
  return std::ranges::find(statuses, name, &kube::ContainerStatus::name) != statuses.end();
}

kube::ContainerStatus Running(const kube::Pod& pod, const kube::Container& container) {
  kube::ContainerStatus status;
  status.name = container.name;
  status.container_id = fmt::format("containerd://{}-{}", pod.metadata.name, container.name);
  status.state.running.emplace();
  status.ready = true;
  return status;
}

}  // namespace

std::shared_ptr<const kube::Pod> TestPod(std::string_view yaml) {
  auto pod = FromYaml<kube::Pod>(yaml);
  if (pod.metadata.ns.empty()) pod.metadata.ns = "default";
  if (pod.metadata.uid.empty()) pod.metadata.uid = pod.metadata.name;
  if (pod.status.phase.empty()) pod.status.phase = "Running";
  auto& statuses = pod.status.container_statuses.Mutable();
  for (const kube::Container& container : pod.spec.containers) {
    if (!HasStatus(statuses, container.name)) statuses.push_back(Running(pod, container));
  }
  return std::make_shared<const kube::Pod>(std::move(pod));
}

std::shared_ptr<const kube::Node> TestNode(std::string_view yaml) {
  return std::make_shared<const kube::Node>(FromYaml<kube::Node>(yaml));
}

}  // namespace koord::koordlet
