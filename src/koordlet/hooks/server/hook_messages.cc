#include "koordlet/hooks/server/hook_messages.h"

#include "runtime_hook.pb.h"

namespace koord::koordlet::hooks {
namespace {

using ::runtime::v1alpha1::ContainerResourceHookRequest;
using ::runtime::v1alpha1::ContainerResourceHookResponse;
using ::runtime::v1alpha1::LinuxContainerResources;
using ::runtime::v1alpha1::PodSandboxHookRequest;
using ::runtime::v1alpha1::PodSandboxHookResponse;
using ::runtime::v1alpha1::PodSandboxMetadata;

kube::Labels PairsOf(const google::protobuf::Map<std::string, std::string>& map) {
  kube::Labels pairs;
  for (const auto& [key, value] : map) pairs.emplace(key, value);
  return pairs;
}

void SetIdentity(const PodSandboxMetadata& meta, SandboxDescription& description) {
  description.ns = meta.namespace_();
  description.name = meta.name();
  description.uid = meta.uid();
}

Limit LimitOf(int64_t value) { return value < 0 ? Limit::Unlimited() : Limit::Of(value); }
int64_t NumberOf(Limit limit) { return limit.unlimited() ? -1 : limit.value(); }

template <class Result>
void Overlay(const Result& result, LinuxContainerResources& resources) {
  if (result.quota) resources.set_cpu_quota(NumberOf(*result.quota));
  if (result.shares) resources.set_cpu_shares(*result.shares);
  if (result.memory) resources.set_memory_limit_in_bytes(NumberOf(*result.memory));
}

}  // namespace

SandboxDescription DescriptionOf(const PodSandboxHookRequest& request) {
  SandboxDescription description;
  SetIdentity(request.pod_meta(), description);
  description.labels = PairsOf(request.labels());
  description.annotations = PairsOf(request.annotations());
  description.cgroup_parent = request.cgroup_parent();
  return description;
}

SandboxDescription PodDescriptionOf(const ContainerResourceHookRequest& request) {
  SandboxDescription description;
  SetIdentity(request.pod_meta(), description);
  description.labels = PairsOf(request.pod_labels());
  description.annotations = PairsOf(request.pod_annotations());
  description.cgroup_parent = request.pod_cgroup_parent();
  return description;
}

ContainerDescription DescriptionOf(const ContainerResourceHookRequest& request) {
  ContainerDescription description;
  description.name = request.container_meta().name();
  description.id = request.container_meta().id();
  if (!request.has_container_resources()) return description;
  const LinuxContainerResources& resources = request.container_resources();
  OriginalResources& original = description.original;
  if (resources.cpu_shares() != 0) original.shares = resources.cpu_shares();
  if (resources.cpu_quota() != 0) original.quota = LimitOf(resources.cpu_quota());
  if (resources.memory_limit_in_bytes() != 0) {
    original.memory = LimitOf(resources.memory_limit_in_bytes());
  }
  return description;
}

void Fill(const PodSandboxHookRequest& request, const PodResult& result,
          PodSandboxHookResponse& response) {
  *response.mutable_labels() = request.labels();
  *response.mutable_annotations() = request.annotations();
  response.set_cgroup_parent(request.cgroup_parent());
  if (request.has_resources()) *response.mutable_resources() = request.resources();
  if (result.quota || result.shares || result.memory) {
    Overlay(result, *response.mutable_resources());
  }
}

void Fill(const ContainerResourceHookRequest& request, const ContainerResult& result,
          ContainerResourceHookResponse& response) {
  *response.mutable_container_annotations() = request.container_annotations();
  response.set_pod_cgroup_parent(request.pod_cgroup_parent());
  *response.mutable_container_envs() = request.container_envs();
  for (const auto& [key, value] : result.envs) (*response.mutable_container_envs())[key] = value;
  if (request.has_container_resources()) {
    *response.mutable_container_resources() = request.container_resources();
  }
  if (result.quota || result.shares || result.memory || result.cpuset) {
    LinuxContainerResources& resources = *response.mutable_container_resources();
    Overlay(result, resources);
    if (result.cpuset) resources.set_cpuset_cpus(*result.cpuset);
  }
}

}  // namespace koord::koordlet::hooks
