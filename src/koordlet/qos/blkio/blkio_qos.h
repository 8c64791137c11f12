#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem_log.h"
#include "koordlet/qos/framework/node_inputs.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// A line for a file, in the kernel's words: "253:16 1000".
struct BlkioLine {
  CgroupFile file;
  std::string text;
  bool operator==(const BlkioLine&) const = default;
};
// What limits the I/O of a cgroup to a disk ("253:16"), and what takes all limits off.
std::vector<BlkioLine> BlkioLimits(std::string_view disk, const api::IoConfig& config);
std::vector<BlkioLine> NoBlkioLimits(std::string_view disk);
// What the kernel is told of a disk itself, so that it can share it by weights.
std::vector<BlkioLine> DiskModel(std::string_view disk, const api::IoConfig& config);
std::vector<BlkioLine> NoDiskModel(std::string_view disk);

// Limits block I/O: of all best-effort pods together, of pods that ask for it, and how disks are
// shared on the node. Disks that nobody configures any more have no limits. Only for cgroups of
// version 1.
class BlkioQosStrategy final : public QosStrategy {
 public:
  explicit BlkioQosStrategy(const QosContext& context);

  std::string_view name() const override { return "BlkioReconcile"; }
  Duration interval() const override { return context_.reconcile_interval; }
  void Run() override;

 private:
  // The configuration of one directory.
  struct Place {
    CgroupDir dir;
    bool is_root = false;
    const NodePod* pod = nullptr;
    std::vector<api::BlockConfig> blocks;
  };

  std::vector<Place> Plan();
  std::optional<Place> PlanPod(const NodePod& pod);
  void Apply(const Place& place);
  api::IoConfig Bounded(const Place& place, std::string_view disk, api::IoConfig config) const;
  std::optional<std::string> DiskOf(const Place& place, const api::BlockConfig& block) const;
  std::optional<std::string> DiskOfPodVolume(const NodePod& pod, std::string_view volume) const;
  std::vector<std::string> ConfiguredDisks(const Place& place) const;
  void Write(const Place& place, const std::vector<BlkioLine>& lines);

  QosContext context_;
  ProblemLog problems_;
  NodeInputs inputs_;
  std::shared_ptr<const StorageInfo> storage_;
  SteadyTime applied_{};
};

}  // namespace koord::koordlet
