#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordlet_annotations.h"
#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// Gives single pods a part of the last-level cache and of the memory bandwidth for themselves.
//
// A pod that asks for it by annotation has a resctrl group of its own, which its containers are put
// into when they are created (NRI) or whose threads are moved there later. Processors have only a
// few groups, so only a few pods of the node, and fewer of each namespace, can have one: first
// come, first served, also over a restart. The group goes with the pod, or with the annotation.
class PodResctrl final : public HookPlugin {
 public:
  explicit PodResctrl(const HookEnv& env) : env_(env) {}

  std::string_view name() const override { return "Resctrl"; }
  HookStages stages() const override {
    return {HookStage::kPreRunPodSandbox, HookStage::kPreCreateContainer,
            HookStage::kPreRemoveRunPodSandbox};
  }

  Status OnPod(HookStage stage, const HookPod& pod, PodResult& result) override;
  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  struct Group {
    std::string ns;  // empty: found at the start, and its pod is not listed
    SteadyTime since{};
    ResctrlGroup written;
  };
  struct Machine {
    std::string vendor;
    std::string l3_mask;
    std::vector<int32_t> l3_caches;
    std::vector<int32_t> mb_caches;
  };

  const Machine* FindMachine();
  Status MakeRoom(const HookPod& pod) const;
  StatusOr<ResctrlGroup> GroupFor(const HookPod& pod, const api::PodResctrl& wish,
                                  const Machine& machine) const;
  Status Remove(const std::string& name);
  // Groups that are there from before a restart count, too.
  Status Adopt();
  void AddTasks(const ReconciledPod& pod, const std::string& group);

  const HookEnv& env_;
  std::optional<Machine> machine_;
  std::map<std::string, Group, std::less<>> groups_;  // by name
  bool has_adopted_ = false;
};

}  // namespace koord::koordlet::hooks
