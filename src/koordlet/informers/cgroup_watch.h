#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/asio_loop.h"
#include "base/status.h"
#include "koordlet/host/cgroup_layout.h"

namespace koord::koordlet {

// The pod whose cgroup has this name: "kubepods-burstable-pod12_ab.slice" and "pod12-ab" are both
// 12-ab. Nothing for a directory that is no pod's.
std::optional<std::string> PodOfCgroupName(std::string_view name, CgroupDriver driver);

// Tells when cgroups of pods appear and vanish (inotify): much sooner than the kubelet is asked the
// next time.
class CgroupWatch {
 public:
  using Listener = std::function<void(const std::string& pod_uid, bool appeared)>;

  // `root` holds the directories of the three classes (in version 1: that of the subsystem cpu).
  // Fails where the kernel cannot do it; then only polling is left.
  static StatusOr<std::unique_ptr<CgroupWatch>> Start(AsioLoop& loop, const std::string& root,
                                                      const CgroupLayout& layout,
                                                      Listener listener);
  ~CgroupWatch();

 private:
  class Impl;
  explicit CgroupWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::koordlet
