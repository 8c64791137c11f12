#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

enum class HookLevel : uint8_t { kQosDir, kPod, kContainer, kSandbox, kAllPods, kHostApplication };

// Puts what plugins said into cgroups and resctrl, always in the same order.
class ResultWriter {
 public:
  explicit ResultWriter(const HookEnv& env);

  // The first error, after everything has been tried. What has vanished is none.
  Status WritePod(const HookPod& pod, const PodResult& result);
  Status WriteContainer(const HookContainer& container, const ContainerResult& result);
  Status WriteDir(HookLevel level, std::string_view name, const CgroupDir& dir,
                  const DirResult& result);

  // Until FlushLevels, quotas of pods and containers are collected: then they are written so that
  // no container ever has more than its pod.
  void CollectLevels() { collecting_ = true; }
  void FlushLevels();

 private:
  struct About {
    HookLevel level;
    std::string_view ns;
    std::string_view name;
    std::string_view container;
    const CgroupDir& dir;
  };

  Update MakeUpdate(const About& about, CgroupFile file, std::string value) const;
  void Write(const About& about, CgroupFile file, std::string value, Status& first);
  void WriteQuota(const About& about, Limit quota, Status& first);
  void WriteResctrl(const About& about, const ResctrlGroup& group, Status& first);
  void Observe(HookLevel level, std::string_view resource, Duration took, bool ok);

  const HookEnv& env_;
  metrics::Histograms& durations_;
  bool collecting_ = false;
  std::vector<std::vector<Update>> levels_;  // of pods, of containers
};

// As files of version 1 have it.
std::string LimitText(Limit limit);

}  // namespace koord::koordlet::hooks
