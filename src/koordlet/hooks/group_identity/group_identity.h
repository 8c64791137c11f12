#pragma once
#include <optional>

#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// Tells the kernel which pods to run first (cpu.bvt_warp_ns, on Anolis kernels).
//
// Each class has a value in NodeSLO, from -1 (runs when nobody else wants to) to 2 (pushes others
// aside); a class that is switched off, and every class under another CPU policy, has 0. A pod has
// its class's value; an LS pod may ask for another one by annotation. Where the kernel has a switch
// for group identity, it is turned on as long as somebody uses it, which excludes core scheduling;
// after that both switches are as they were before.
class GroupIdentity final : public HookPlugin {
 public:
  explicit GroupIdentity(const HookEnv& env) : env_(env) {}

  std::string_view name() const override { return "GroupIdentity"; }
  HookStages stages() const override { return {HookStage::kPreRunPodSandbox}; }

  Status OnPod(HookStage stage, const HookPod& pod, PodResult& result) override;
  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;
  Status OnQosDir(kube::PodQos qos, DirResult& result) override;
  Status OnHostApplication(const api::HostApplication& application, DirResult& result) override;
  bool OnStateChange() override;
  void AfterRewrite() override;

 private:
  struct Rule {
    bool is_enabled = false;  // at least one class
    int64_t guaranteed = 0;   // pods of no class, by Kubernetes'
    int64_t lsr = 0;
    int64_t ls = 0;
    int64_t be = 0;
    bool operator==(const Rule&) const = default;
  };

  static Rule ParseRule(const api::NodeSloSpec& slo);
  bool IsSupported() const;
  bool IsIdle() const;  // nothing is to be written
  Status SwitchKernel();
  int64_t ValueOfLabel(api::QosClass label, kube::PodQos kube_qos) const;
  StatusOr<int64_t> ValueOfPod(const HookPod& pod) const;
  int64_t ValueOfDir(kube::PodQos qos) const;
  void WriteAllUnknown();
  void WriteUnknown(kube::PodQos qos, const CgroupDir& pod_dir);

  const HookEnv& env_;
  std::optional<Rule> rule_;
  bool kernel_refused_ = false;  // its switch could not be set
};

}  // namespace koord::koordlet::hooks
