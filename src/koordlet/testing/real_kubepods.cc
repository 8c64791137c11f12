#include "koordlet/testing/real_kubepods.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/strings.h"

namespace koord::koordlet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kControllers[] = {"cpu", "cpuacct", "cpuset", "memory"};
// Below a directory that has it nobody but tests has made anything.
constexpr std::string_view kMark = "koordlet-real-cgroups-test";
constexpr int kRemoveAttempts = 100'000;  // its last process may not be quite gone

fs::path PathOf(std::string_view controller, std::string_view dir) {
  return fs::path(RealKubepods::kRoot) / controller / dir;
}

Status WriteText(const fs::path& path, std::string_view text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good() ? absl::OkStatus() : Internal("{} is not writable", path.string());
}

Status MakeIn(std::string_view controller, std::string_view dir) {
  const fs::path path = PathOf(controller, dir);
  std::error_code error;
  fs::create_directory(path, error);
  if (error) return Internal("{}: {}", path.string(), error.message());
  if (controller != "cpuset") return absl::OkStatus();
  for (const std::string_view file : {"cpuset.mems", "cpuset.cpus"}) {  // which are not inherited
    std::string text;
    std::getline(std::ifstream(path.parent_path() / file), text);
    RETURN_IF_ERROR(WriteText(path / file, text));
  }
  return absl::OkStatus();
}

void Remove(const fs::path& dir) {
  std::error_code error;
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    if (entry.is_directory(error)) below.push_back(entry.path());
  }
  for (const fs::path& each : below) Remove(each);
  for (int i = 0; i < kRemoveAttempts && rmdir(dir.c_str()) != 0 && errno == EBUSY; ++i) {
    sched_yield();
  }
}

}  // namespace

RealKubepods::~RealKubepods() {
  if (lock_ < 0) return;
  for (const pid_t pid : sleepers_) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  RemoveAll();
  close(lock_);
}

void RealKubepods::RemoveAll() {
  for (const std::string_view controller : kControllers) Remove(PathOf(controller, "kubepods"));
}

Status RealKubepods::CheckController(std::string_view controller) const {
  const fs::path top = PathOf(controller, "");
  std::error_code error;
  if (!fs::exists(top / "tasks", error)) return Unavailable("{}: no cgroups v1", top.string());
  if (access(top.c_str(), W_OK) != 0) return Unavailable("{} is read-only", top.string());
  const fs::path kubepods = PathOf(controller, "kubepods");
  if (fs::exists(kubepods, error) && !fs::exists(kubepods / kMark, error)) {
    return Unavailable("{}: somebody else's pods run here", kubepods.string());
  }
  return absl::OkStatus();
}

Status RealKubepods::Take() {
  if (geteuid() != 0) return Unavailable("only root may make cgroups");
  for (const std::string_view controller : kControllers) {
    RETURN_IF_ERROR(CheckController(controller));
  }
  const int lock = open(PathOf("cpu", "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (lock >= 0) close(lock);
    return Unavailable("another test has the cgroups of this machine");
  }
  lock_ = lock;
  RemoveAll();
  RETURN_IF_ERROR(MakeDirectory("kubepods"));
  return MakeDirectory(fmt::format("kubepods/{}", kMark));
}

Status RealKubepods::MakeDirectory(std::string_view dir) {
  for (const std::string_view controller : kControllers) {
    RETURN_IF_ERROR(MakeIn(controller, dir));
  }
  return absl::OkStatus();
}

Status RealKubepods::SetQuota(std::string_view dir, int64_t micros) {
  return WriteText(PathOf("cpu", dir) / "cpu.cfs_quota_us", std::to_string(micros));
}

Status RealKubepods::StartSleeper(std::string_view dir) {
  const pid_t pid = fork();
  if (pid < 0) return Internal("fork: {}", std::strerror(errno));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  sleepers_.push_back(pid);
  for (const std::string_view controller : kControllers) {
    RETURN_IF_ERROR(WriteText(PathOf(controller, dir) / "cgroup.procs", std::to_string(pid)));
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet
