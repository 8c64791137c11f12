#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "koordlet/hooks/core_sched/cookie_book.h"
#include "koordlet/hooks/engine/expiring_series.h"
#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// Keeps pods that do not trust each other off the two threads of one core (core scheduling), where
// NodeSLO's CPU policy asks for it.
//
// Processes of one group share a cookie, and only processes with the same cookie run on a core at
// the same time. A pod's group is that of its label, within its namespace; pods without label are
// together, and one with the policy "exclusive" is alone. Classes whose core expeller is on are
// apart from the others. Where the policy is off, or a pod opts out, cookies are taken away again.
// The kernel's switches are then as they were before. SYSTEM pods are never touched. The classes'
// schedIdle becomes cpu.idle of their directories.
class CoreSched final : public HookPlugin {
 public:
  explicit CoreSched(const HookEnv& env);

  std::string_view name() const override { return "CoreSched"; }
  Status OnQosDir(kube::PodQos qos, DirResult& result) override;
  bool OnStateChange() override;
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  struct ClassRule {
    bool is_enabled = false;
    bool has_expeller = false;
    bool is_idle = false;
    bool operator==(const ClassRule&) const = default;
  };
  struct Rule {
    bool is_enabled = false;  // at least one class
    ClassRule lsr;
    ClassRule ls;
    ClassRule be;
    bool operator==(const Rule&) const = default;
  };

  static Rule ParseRule(const api::NodeSloSpec& slo);
  const ClassRule& RuleOf(const HookPod& pod) const;
  // None: its processes shall have no cookie.
  std::optional<std::string> GroupOf(const HookPod& pod) const;
  std::string GroupName(const HookPod& pod) const;
  bool IsSupported() const;
  Status SwitchOn();
  void PutBackSwitches();
  void Adopt(std::span<const ReconciledPod> pods);
  void Set(const HookContainer& container, const std::optional<std::string>& group);
  void Count(const HookContainer& container, const CookieBook::Change& change);

  const HookEnv& env_;
  std::optional<Rule> rule_;
  CookieBook book_;
  bool has_adopted_ = false;
  ExpiringSeries<metrics::Gauge> cookies_;
  ExpiringSeries<metrics::Counter> changes_;
};

}  // namespace koord::koordlet::hooks
