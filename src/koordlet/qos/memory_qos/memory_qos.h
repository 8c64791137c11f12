#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/problem_log.h"
#include "koordlet/qos/framework/node_inputs.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// Protects the memory of important pods and slows down those that grow too fast.
//
// By the class of a pod, and by what it says for itself, parts of its request are kept from being
// reclaimed (memory.min, memory.low), allocation beyond a point is throttled (memory.high), and,
// where the kernel knows how, reclaim starts early and the OOM killer has an order. A class that is
// switched off gets the kernel's defaults.
class MemoryQosStrategy final : public QosStrategy {
 public:
  explicit MemoryQosStrategy(const QosContext& context);

  std::string_view name() const override { return "CgroupReconcile"; }
  Duration interval() const override { return context_.reconcile_interval; }
  void Run() override;

 private:
  using Levels = std::vector<std::vector<Update>>;
  // What all pods of a class of Kubernetes are sure of together; none: there is no such pod.
  struct Guarantee {
    std::optional<int64_t> min;
    std::optional<int64_t> low;
  };
  using Guarantees = std::array<Guarantee, 3>;  // by kube::PodQos

  void Plan();
  void PlanPod(const NodePod& pod, Guarantees& guarantees);
  void PlanContainer(const NodePod& pod, const NodeContainer& container,
                     const api::MemoryQos& config);
  bool KubeletGroupsOomKills() const;
  void PlanQosDirs(const Guarantees& guarantees);
  void PlanQosDir(kube::PodQos qos, const Guarantee& guarantee, const api::ResourceQos* of_class,
                  std::vector<Update>& level);
  const api::ResourceQos* ClassOf(api::QosClass qos) const;

  // Adds a write, unless the value is absent or out of the file's range.
  void Put(std::vector<Update>& level, CgroupFile file, const CgroupDir& dir,
           std::optional<int64_t> value, const AuditEvent& about);
  void PutReclaim(std::vector<Update>& level, const CgroupDir& dir, const api::MemoryQos& config,
                  const AuditEvent& about);
  void PutOomOrder(std::vector<Update>& level, const CgroupDir& dir, const api::MemoryQos& config,
                   const AuditEvent& about);

  QosContext context_;
  ProblemLog problems_;
  NodeInputs inputs_;
  Levels levels_;  // kubepods, the other QoS directories, pods, containers
  SteadyTime applied_{};
};

}  // namespace koord::koordlet
