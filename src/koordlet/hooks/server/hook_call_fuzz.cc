#include "base/fuzz.h"
#include "koordlet/hooks/hook_fixture_testing.h"
#include "koordlet/hooks/server/hook_messages.h"
#include "runtime_hook.pb.h"

namespace koord::koordlet::hooks {
namespace {

using namespace ::runtime::v1alpha1;

constexpr char kAllGates[] =
    "GPUEnvInject=true,RDMADeviceInject=true,CPUNormalization=true,CoreSched=true,TerwayQoS=true,"
    "TCNetworkQoS=true,Resctrl=true,OOMScoreAdj=true";

void AnswerPod(HookRunner& runner, HookStage stage, const std::string& bytes) {
  PodSandboxHookRequest request;
  if (!request.ParseFromString(bytes)) return;
  const HookPod pod = runner.MakePod(DescriptionOf(request));
  PodResult result;
  runner.RunPod(stage, pod, result).IgnoreError();
  runner.writer().WritePod(pod, result).IgnoreError();
  PodSandboxHookResponse response;
  Fill(request, result, response);
  FUZZ_ASSERT(response.cgroup_parent() == request.cgroup_parent());
}

void AnswerContainer(HookRunner& runner, HookStage stage, const std::string& bytes) {
  ContainerResourceHookRequest request;
  if (!request.ParseFromString(bytes)) return;
  const HookPod pod = runner.MakePod(PodDescriptionOf(request));
  const HookContainer container = runner.MakeContainer(pod, DescriptionOf(request));
  ContainerResult result;
  runner.RunContainer(stage, container, result).IgnoreError();
  ContainerResourceHookResponse response;
  Fill(request, result, response);
  FUZZ_ASSERT(response.container_envs_size() >= request.container_envs_size());
}

}  // namespace
}  // namespace koord::koordlet::hooks

// The runtime proxy passes on what pods say of themselves. The first byte is the stage, the rest
// the message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::koordlet::hooks;
  if (size == 0) return 0;
  static HookNode node({.gates = kAllGates});
  HookRunner& runner = node.hooks->runner();
  const auto stage = static_cast<HookStage>(data[0] % kHookStageCount);
  const std::string bytes(koord::FuzzText(data + 1, size - 1));
  const bool of_pod =
      stage == HookStage::kPreRunPodSandbox || stage == HookStage::kPostStopPodSandbox;
  of_pod ? AnswerPod(runner, stage, bytes) : AnswerContainer(runner, stage, bytes);
  node.events.clear();
  node.directories.clear();
  node.writes.clear();
  return 0;
}
