#include "koordlet/host/real_kernel.h"

#include <linux/perf_event.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#define PR_SCHED_CORE_GET 0
#define PR_SCHED_CORE_CREATE 1
#define PR_SCHED_CORE_SHARE_TO 2
#define PR_SCHED_CORE_SHARE_FROM 3
#endif
#ifndef PR_SCHED_CORE_SCOPE_THREAD
#define PR_SCHED_CORE_SCOPE_THREAD 0
#define PR_SCHED_CORE_SCOPE_THREAD_GROUP 1
#endif

namespace koord::koordlet {
namespace {

std::string Why(int error) { return std::generic_category().message(error); }

Status CoreError(std::string_view what, int32_t pid, int error) {
  const std::string text = fmt::format("{} of process {}: {}", what, pid, Why(error));
  switch (error) {
    case ESRCH:
      return absl::NotFoundError(text);
    case EPERM:
    case EACCES:
      return absl::PermissionDeniedError(text);
    case EINVAL:
    case ENODEV:
      return absl::UnimplementedError(text);
    default:
      return absl::InternalError(text);
  }
}

// 0 or errno.
int CoreCall(int command, int32_t pid, int scope, uint64_t* cookie = nullptr) {
  return prctl(PR_SCHED_CORE, command, pid, scope, cookie) == 0 ? 0 : errno;
}

// A cookie can only be copied from or to the calling thread. A thread of its own, which ends at
// once, keeps koordlet out of the groups that it makes.
template <class Call>
Status OnAThreadOfItsOwn(const Call& call) {
  Status status;
  std::thread([&] { status = call(); }).join();
  return status;
}

Status Push(int32_t to) {
  const int error = CoreCall(PR_SCHED_CORE_SHARE_TO, to, PR_SCHED_CORE_SCOPE_THREAD_GROUP);
  return error == 0 ? absl::OkStatus() : CoreError("setting the core cookie", to, error);
}

class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (const int fd : fds_) close(fd);
  }
  void Add(int fd) { fds_.push_back(fd); }
  const std::vector<int>& fds() const { return fds_; }

 private:
  std::vector<int> fds_;
};

// Cycles and instructions on one CPU as one group, so that they are counted at the same times.
class CgroupCounter final : public Kernel::CpiCounter {
 public:
  Status Add(int cgroup, int32_t cpu) {
    int leader = -1;
    for (const uint64_t event : {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS}) {
      perf_event_attr attributes{};
      attributes.size = sizeof(attributes);
      attributes.type = PERF_TYPE_HARDWARE;
      attributes.config = event;
      attributes.read_format =
          PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
      const auto fd =
          static_cast<int>(syscall(SYS_perf_event_open, &attributes, cgroup, cpu, leader,
                                   PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC));
      if (fd < 0) {
        const int error = errno;
        const std::string text = fmt::format("performance counters on CPU {}: {}", cpu, Why(error));
        if (error == EMFILE || error == ENFILE) return absl::ResourceExhaustedError(text);
        return absl::UnimplementedError(text);
      }
      all_.Add(fd);
      if (leader < 0) leaders_.push_back(leader = fd);
    }
    return absl::OkStatus();
  }

  StatusOr<Kernel::CpiCount> Read() override {
    struct Answer {
      uint64_t count;
      uint64_t enabled;
      uint64_t running;
      std::array<uint64_t, 2> values;
    };
    Kernel::CpiCount sum;
    for (const int leader : leaders_) {
      Answer answer{};
      if (read(leader, &answer, sizeof(answer)) < static_cast<ssize_t>(sizeof(answer))) {
        return Internal("a performance counter: {}", Why(errno));
      }
      if (answer.running == 0) continue;  // nothing ran on this CPU
      // There are more events than counters: each was looked at for a part of the time.
      const double scale =
          static_cast<double>(answer.enabled) / static_cast<double>(answer.running);
      sum.cycles += static_cast<double>(answer.values[0]) * scale;
      sum.instructions += static_cast<double>(answer.values[1]) * scale;
    }
    return sum;
  }

 private:
  Descriptors all_;
  std::vector<int> leaders_;
};

}  // namespace

RealKernel::RealKernel(const DirectoryTree& cgroups, CgroupVersion version,
                       std::string resctrl_mount_point)
    : cgroups_(cgroups),
      version_(version),
      resctrl_mount_point_(std::move(resctrl_mount_point)),
      page_size_(sysconf(_SC_PAGESIZE)),
      jiffy_([] {
        const long ticks = sysconf(_SC_CLK_TCK);
        return Duration(std::chrono::seconds(1)) / (ticks > 0 ? ticks : 100);
      }()) {}

bool RealKernel::HasCoreScheduling() const { return CoreCookie(getpid()).ok(); }

StatusOr<uint64_t> RealKernel::CoreCookie(int32_t pid) const {
  uint64_t cookie = 0;
  const int error = CoreCall(PR_SCHED_CORE_GET, pid, PR_SCHED_CORE_SCOPE_THREAD, &cookie);
  if (error != 0) return CoreError("the core cookie", pid, error);
  return cookie;
}

Status RealKernel::CreateCoreCookie(int32_t pid) {
  const int error = CoreCall(PR_SCHED_CORE_CREATE, pid, PR_SCHED_CORE_SCOPE_THREAD_GROUP);
  return error == 0 ? absl::OkStatus() : CoreError("making a core cookie", pid, error);
}

Status RealKernel::ShareCoreCookie(int32_t from, int32_t to) {
  return OnAThreadOfItsOwn([from, to]() -> Status {
    const int error = CoreCall(PR_SCHED_CORE_SHARE_FROM, from, PR_SCHED_CORE_SCOPE_THREAD);
    if (error != 0) return CoreError("taking the core cookie", from, error);
    return Push(to);
  });
}

Status RealKernel::ClearCoreCookie(int32_t pid) {
  return OnAThreadOfItsOwn([this, pid]() -> Status {
    ASSIGN_OR_RETURN(const uint64_t own, CoreCookie(0));
    if (own != 0)
      return FailedPrecondition("koordlet itself has a core cookie: cannot clear others");
    return Push(pid);
  });
}

Status RealKernel::MountResctrl() {
  if (resctrl_mount_point_.empty()) return absl::UnimplementedError("resctrl is not to be mounted");
  if (mount("resctrl", resctrl_mount_point_.c_str(), "resctrl", MS_NOSUID | MS_NODEV | MS_NOEXEC,
            nullptr) == 0 ||
      errno == EBUSY) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      fmt::format("mounting resctrl on {}: {}", resctrl_mount_point_, Why(errno)));
}

StatusOr<std::unique_ptr<Kernel::CpiCounter>> RealKernel::CountCpi(const CgroupDir& cgroup_dir,
                                                                   const CpuSet& cpus) {
  const std::string path =
      version_ == CgroupVersion::kV1 ? fmt::format("perf_event/{}", cgroup_dir) : cgroup_dir.path();
  ASSIGN_OR_RETURN(const int cgroup, cgroups_.OpenDirectory(path));
  Descriptors directory;
  directory.Add(cgroup);
  auto counter = std::make_unique<CgroupCounter>();
  for (const int32_t cpu : cpus) RETURN_IF_ERROR(counter->Add(cgroup, cpu));
  return counter;
}

}  // namespace koord::koordlet
