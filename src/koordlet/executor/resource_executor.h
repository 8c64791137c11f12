#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "base/status.h"
#include "koordlet/audit/auditor.h"
#include "koordlet/host/host.h"

namespace koord::koordlet {

struct CgroupTarget {
  CgroupFile file;
  CgroupDir dir;
  bool operator==(const CgroupTarget&) const = default;
};
struct FileTarget {  // outside of cgroups: sysctls and the like
  enum class Tree : uint8_t { kProc, kSys };
  Tree tree;
  std::string path;
  bool operator==(const FileTarget&) const = default;
};
struct ResctrlSchemata {
  std::string group;  // "BE"; empty: the root
  std::string kind;   // "L3", "MB"
  bool operator==(const ResctrlSchemata&) const = default;
};
using UpdateTarget = std::variant<CgroupTarget, FileTarget, ResctrlSchemata>;

// A value that a file shall have, in version 1's units: shares, microseconds of quota, -1 for no
// limit. Whatever the kernel wants instead is the executor's business.
struct Update {
  UpdateTarget target;
  std::string value;
  AuditEvent about;  // why and for whom; the change itself is added
};

// What was or would be written, for those who look on (--once, tests).
struct WriteRecord {
  std::string path;  // with its tree before it: "cgroup/cpu/kubepods/cpu.shares"
  std::string old_value;
  std::string new_value;
};

// The only writer of kernel files. Skips what is in place already, keeps values in their legal
// ranges, and does the right thing first when parents limit their children.
class ResourceExecutor {
 public:
  struct Options {
    Duration force_update_after = std::chrono::seconds(60);
    bool dry_run = false;  // records, but changes nothing
  };

  ResourceExecutor(Host& host, const Clock& clock, Auditor* auditor, metrics::Registry* metrics,
                   Options options);
  ~ResourceExecutor();

  // Writes unless this value was written a short while ago. True: the file has changed. What the
  // machine does not support and what has vanished is no error.
  StatusOr<bool> Apply(const Update& update);
  // Reads the file and writes if it differs, whatever was written before.
  StatusOr<bool> ApplyNow(const Update& update);

  // Levels from the top of the tree to the bottom. At no moment does a child have more than its
  // parent: what grows is written downwards, what shrinks upwards.
  void ApplyLevels(std::span<const std::vector<Update>> levels);

  // A group that is there already is fine, as is one that is gone already.
  Status MakeResctrlGroup(std::string_view group);
  Status RemoveResctrlGroup(std::string_view group);
  // Adds thread ids to a resctrl group, those that have ended meanwhile aside.
  Status AddResctrlTasks(std::string_view group, std::vector<int32_t> tasks);

  void set_observer(std::function<void(const WriteRecord&)> observer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::koordlet
