#include "koordlet/testing/bench_machine.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "koordlet/host/discovery.h"
#include "koordlet/host/open_file_limit.h"
#include "koordlet/testing/large_machine.h"

namespace koord::koordlet {
namespace {

namespace fs = std::filesystem;

constexpr char kSharedMemory[] = "/dev/shm";

bool IsTmpfs(const char* path) {
  struct statfs info {};
  return statfs(path, &info) == 0 && info.f_type == TMPFS_MAGIC && access(path, W_OK) == 0;
}

TestHost::Options MachineOf(BenchMachine::Where where, CgroupVersion version, int cpus) {
  TestHost::Options options = LargeMachine(version);
  if (where == BenchMachine::Where::kCgroups) {
    options.driver = CgroupDriver::kCgroupfs;
    options.shape = {.cores = cpus, .threads = 1};
  }
  return options;
}

// The kernel shows in one file what was written to the other: here they are the same.
Status TieEffectiveCpusets(const std::string& cgroups) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(cgroups, error)) {
    if (entry.path().filename() != "cpuset.cpus.effective") continue;
    const fs::path written = entry.path().parent_path() / "cpuset.cpus";
    fs::remove(written, error);
    fs::create_hard_link(entry.path(), written, error);
    if (error) return Internal("{}: {}", written.string(), error.message());
  }
  return absl::OkStatus();
}

// So that the memory of this process is koordlet's.
Status InChild(const std::function<Status()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work().ok() ? 0 : 1);
  int outcome = 1;
  if (pid < 0 || waitpid(pid, &outcome, 0) != pid || outcome != 0) {
    return Internal("the machine's files cannot be written");
  }
  return absl::OkStatus();
}

}  // namespace

BenchMachine::BenchMachine(Where where, CgroupVersion version) : where_(where), version_(version) {
  if (where == Where::kCgroups) cpus_ = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

Status BenchMachine::AddPods(const Pods& pods) {
  if (where_ == Where::kMemory) return MakeImage(pods);
  RaiseOpenFileLimit();
  if (!IsTmpfs(kSharedMemory)) return Unavailable("{} is no tmpfs", kSharedMemory);
  directory_.emplace(kSharedMemory);
  if (where_ == Where::kTmpfs) {
    RETURN_IF_ERROR(InChild([&] { return WriteImage(pods); }));
  } else {
    RETURN_IF_ERROR(WriteImage(pods));
    RETURN_IF_ERROR(AddCgroups(pods));
  }
  HostPaths paths = HostPaths::Below(directory_->path());
  if (where_ == Where::kCgroups) paths.cgroup = RealKubepods::kRoot;
  ASSIGN_OR_RETURN(host_, DiscoverHost(paths, MachineOf(where_, version_, cpus_).driver));
  return absl::OkStatus();
}

Status BenchMachine::WriteImage(const Pods& pods) {
  RETURN_IF_ERROR(MakeImage(pods));
  RETURN_IF_ERROR(image_->WriteTo(directory_->path()));
  if (version_ == CgroupVersion::kV1) return absl::OkStatus();
  return TieEffectiveCpusets(HostPaths::Below(directory_->path()).cgroup);
}

std::vector<CgroupDir> BenchMachine::DirsIn(const kube::Pod& pod) const {
  std::vector<CgroupDir> dirs{image_->SandboxDir(pod)};
  for (const kube::Container& container : pod.spec.containers) {
    dirs.push_back(image_->ContainerDir(pod, container.name));
  }
  return dirs;
}

Status BenchMachine::MakeImage(const Pods& pods) {
  image_ = std::make_unique<TestHost>(MachineOf(where_, version_, cpus_));
  // A directory does not fill new groups with files, as the kernel does.
  for (const std::string_view group : {"LSR", "LS", "BE"}) {
    RETURN_IF_ERROR(image_->resctrl().MakeDirectory(group));
  }
  int32_t process = 1000;
  for (const auto& pod : pods) {
    image_->AddPod(*pod);
    for (const CgroupDir& dir : DirsIn(*pod)) {
      ++process;
      image_->SetProcesses(dir, {&process, 1});
    }
  }
  return absl::OkStatus();
}

// With the quota that the kubelet gives it.
Status BenchMachine::AddCgroup(const CgroupDir& dir) {
  RETURN_IF_ERROR(kubepods_.MakeDirectory(dir));
  ASSIGN_OR_RETURN(const Limit quota, image_->host().cgroups().ReadCpuQuota(dir));
  return quota.unlimited() ? absl::OkStatus() : kubepods_.SetQuota(dir, quota.value());
}

Status BenchMachine::AddCgroups(const Pods& pods) {
  RETURN_IF_ERROR(kubepods_.Take());
  for (const kube::PodQos qos : {kube::PodQos::kBurstable, kube::PodQos::kBestEffort}) {
    RETURN_IF_ERROR(kubepods_.MakeDirectory(image_->layout().QosDir(qos)));
  }
  for (const auto& pod : pods) {
    RETURN_IF_ERROR(AddCgroup(image_->PodDir(*pod)));
    for (const CgroupDir& dir : DirsIn(*pod)) {
      RETURN_IF_ERROR(AddCgroup(dir));
      RETURN_IF_ERROR(kubepods_.StartSleeper(dir));
    }
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet
