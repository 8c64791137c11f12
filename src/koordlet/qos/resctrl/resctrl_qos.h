#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "koordlet/qos/framework/node_inputs.h"
#include "koordlet/qos/framework/problem_log.h"
#include "koordlet/qos/qos_strategy.h"

namespace koord::koordlet {

// Divides the last-level cache and the memory bandwidth between the classes LSR, LS and BE, each a
// resctrl group with the threads of its pods. A class that is switched off has all of both. Pods
// that have a group of their own are left alone, as are those of the system.
class ResctrlQosStrategy final : public QosStrategy {
 public:
  explicit ResctrlQosStrategy(const QosContext& context);

  std::string_view name() const override { return "ResctrlReconcile"; }
  Duration interval() const override { return context_.reconcile_interval; }
  void Run() override;

 private:
  bool IsSupported();
  // Once, where nobody has done it yet.
  void Mount();
  void RemoveGroups();
  void ApplySchemata();
  void ApplyGroup(std::string_view group, const api::ResctrlQos& config, std::string_view cbm,
                  std::string_view root_schemata);
  void WriteSchemata(std::string_view group, std::string_view kind, std::string_view root_schemata,
                     const std::string& value);
  // Moves threads that are not yet in the groups of their classes.
  void AddTasks();
  std::vector<int32_t> ThreadsOf(const NodePod& pod) const;
  const api::ResctrlQos* ConfigOf(size_t group) const;

  QosContext context_;
  ProblemLog problems_;
  NodeInputs inputs_;
  std::shared_ptr<const CpuInfo> cpus_;
  bool supported_ = false;
  bool has_groups_ = false;
  bool has_tried_to_mount_ = false;
  SteadyTime applied_{};
};

}  // namespace koord::koordlet
