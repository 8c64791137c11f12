#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace koord::koordlet {

// The cgroups of pods in this machine's own hierarchies of version 1, with a process that sleeps in
// each that is asked for. All of it goes away with its owner; what an owner that was killed has
// left is removed by the next.
class RealKubepods {
 public:
  static constexpr char kRoot[] = "/sys/fs/cgroup";

  RealKubepods() = default;
  ~RealKubepods();
  RealKubepods(const RealKubepods&) = delete;
  RealKubepods& operator=(const RealKubepods&) = delete;

  // An error says why this machine is not fit for it: not root, no version 1, pods of somebody
  // else, or another one who does the same.
  Status Take();
  // In all hierarchies; parents first.
  Status MakeDirectory(std::string_view dir);
  Status SetQuota(std::string_view dir, int64_t micros);
  Status StartSleeper(std::string_view dir);

 private:
  Status CheckController(std::string_view controller) const;
  void RemoveAll();

  int lock_ = -1;
  std::vector<pid_t> sleepers_;
};

}  // namespace koord::koordlet
