#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/problem_log.h"
#include "koordlet/qos/framework/node_inputs.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// What the NodeSLO wants of a kernel setting; none: nothing, or nothing that makes sense.
struct SystemSetting {
  FileTarget file;
  std::optional<int64_t> value;
};
// In a fixed order, for a node with this much memory.
std::vector<SystemSetting> SystemSettings(const api::SystemStrategy& strategy,
                                          int64_t memory_bytes);

// What to write so that scheduler features are as wanted, given what the kernel says of them.
std::vector<std::string> SchedFeatureChanges(const std::map<std::string, bool, std::less<>>& wanted,
                                             std::string_view current);

// Sets up the kernel as a whole: how much memory stays free, when it starts to reclaim, and
// switches of the scheduler. What is no longer asked for goes back to what it was before.
class SystemConfig final : public QosStrategy {
 public:
  explicit SystemConfig(const QosContext& context);

  std::string_view name() const override { return "SystemConfigReconcile"; }
  Duration interval() const override { return context_.reconcile_interval; }
  void Run() override;

 private:
  void Apply(const SystemSetting& setting);
  void ApplySchedFeatures();
  bool Write(const FileTarget& file, const std::string& value);

  QosContext context_;
  ProblemLog problems_;
  NodeInputs inputs_;
  SteadyTime applied_{};
  UndoFile own_undo_;
  UndoFile& before_;  // by path; of features, by their names behind a prefix
};

}  // namespace koord::koordlet
