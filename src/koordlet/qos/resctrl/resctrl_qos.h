#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/problem_log.h"
#include "koordlet/host/kept_file.h"
#include "koordlet/informers/tracked_pods.h"
#include "koordlet/qos/framework/node_inputs.h"
#include "koordlet/qos/framework/qos_strategy.h"

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
  void MoveThreads(std::string_view group, std::vector<int32_t> threads);
  const api::ResctrlQos* ConfigOf(size_t group) const;
  std::optional<size_t> ManagedGroupOf(const NodePod& pod) const;

  // What is known of a container, or of a pod's sandbox.
  struct Memory {
    // Of a pod: its sandbox's directory, the root where it has no containers yet; none: unknown.
    std::optional<CgroupDir> sandbox;
    KeptFile file;      // of threads, or of a sandbox's usage: see HasSandboxRun
    std::string usage;  // of the sandbox, when its threads were read
    bool is_known = false;
    std::vector<int32_t> threads;
  };
  using Pods = TrackedPods<Memory>;
  // Whether it has used CPU time since the last look, as far as it was measured; in doubt it has.
  bool HasRun(const Pods::Entry& entry) const;
  void ReadThreads(Pods::Entry& entry);
  void ReadThreadsIn(const CgroupDir& dir, Memory& memory);
  void ReadThreadsOfSandbox(const NodePod& pod, Memory& memory);
  bool HasSandboxRun(Memory& memory);

  QosContext context_;
  ProblemLog problems_;
  NodeInputs inputs_;
  Pods pods_;
  std::string buffer_;
  std::shared_ptr<const CpuInfo> cpus_;
  bool supported_ = false;
  bool has_groups_ = false;
  bool has_tried_to_mount_ = false;
  SteadyTime applied_{};
  std::optional<SteadyTime> looked_;  // at threads
};

}  // namespace koord::koordlet
