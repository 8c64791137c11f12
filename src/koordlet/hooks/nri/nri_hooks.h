#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "koordlet/hooks/engine/hook_runner.h"

// What koordlet does as a plugin of a container runtime (NRI), apart from how the two talk: whoever
// speaks the protocol turns its messages into these values and calls NriHooks.
namespace koord::koordlet::hooks {

struct NriPod {
  std::string ns;
  std::string name;
  std::string uid;
  kube::Labels labels;
  kube::Annotations annotations;
  std::string cgroup_parent;  // of pod.linux; empty where there is none
};

// Members are none where the message has none.
struct NriResources {
  std::optional<uint64_t> shares;
  std::optional<int64_t> quota;
  std::optional<int64_t> memory_limit;
  std::string cpus;
};
struct NriContainer {
  std::string id;
  std::string name;
  NriResources resources;  // container.linux.resources
};

// Sub-messages are only made for what is set.
struct NriContainerResources {
  std::optional<std::string> cpus;
  std::optional<int64_t> quota;  // -1: no limit
  std::optional<uint64_t> shares;
  std::optional<int64_t> memory_limit;
  std::string rdt_class;
  bool empty() const { return !cpus && !quota && !shares && !memory_limit && rdt_class.empty(); }
};
struct NriAdjustment {
  NriContainerResources resources;
  std::vector<std::pair<std::string, std::string>> env;  // by key
  std::vector<HookMount> mounts;
  std::vector<HookDevice> devices;
};
struct NriUpdate {
  std::string container_id;
  NriContainerResources resources;
};

// An error fails the runtime's call, which only happens with the failure policy Fail. What exists
// when the runtime connects is the reconciler's business.
class NriHooks {
 public:
  explicit NriHooks(HookRunner& runner) : runner_(runner) {}

  Status RunPodSandbox(const NriPod& pod);
  StatusOr<NriAdjustment> CreateContainer(const NriPod& pod, const NriContainer& container);
  // `wanted` is what the runtime is about to set, over what the container has. None: no change.
  StatusOr<std::optional<NriUpdate>> UpdateContainer(const NriPod& pod,
                                                     const NriContainer& container,
                                                     const NriResources& wanted);
  Status RemovePodSandbox(const NriPod& pod);

 private:
  HookPod MakePod(const NriPod& pod);
  Status RunContainer(HookStage stage, const NriPod& pod, const NriContainer& container,
                      const NriResources& wanted, ContainerResult& result);

  HookRunner& runner_;
};

}  // namespace koord::koordlet::hooks
