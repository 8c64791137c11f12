#include "koordlet/testing/bench_machine.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <filesystem>

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

}  // namespace

BenchMachine::BenchMachine(Where where, CgroupVersion version) : where_(where), version_(version) {
  if (where == Where::kCgroups) cpus_ = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  image_ = std::make_unique<TestHost>(MachineOf(where, version, cpus_));
}

Status BenchMachine::AddPods(const Pods& pods) {
  // A directory does not fill new groups with files, as the kernel does.
  for (const std::string_view group : {"LSR", "LS", "BE"}) {
    RETURN_IF_ERROR(image_->resctrl().MakeDirectory(group));
  }
  RETURN_IF_ERROR(where_ == Where::kCgroups ? AddCgroups(pods) : AddToImage(pods));
  return where_ == Where::kMemory ? absl::OkStatus() : Open();
}

std::vector<std::string> BenchMachine::DirsIn(const kube::Pod& pod) const {
  std::vector<std::string> dirs{image_->SandboxDir(pod)};
  for (const kube::Container& container : pod.spec.containers) {
    dirs.push_back(image_->ContainerDir(pod, container.name));
  }
  return dirs;
}

Status BenchMachine::AddToImage(const Pods& pods) {
  int32_t process = 1000;
  for (const auto& pod : pods) {
    image_->AddPod(*pod);
    for (const std::string& dir : DirsIn(*pod)) {
      ++process;
      image_->SetProcesses(dir, {&process, 1});
    }
  }
  return absl::OkStatus();
}

// With the quota that the kubelet gives it.
Status BenchMachine::AddCgroup(const std::string& dir) {
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
    image_->AddPod(*pod);
    RETURN_IF_ERROR(AddCgroup(image_->PodDir(*pod)));
    for (const std::string& dir : DirsIn(*pod)) {
      RETURN_IF_ERROR(AddCgroup(dir));
      RETURN_IF_ERROR(kubepods_.StartSleeper(dir));
    }
  }
  return absl::OkStatus();
}

Status BenchMachine::Open() {
  RaiseOpenFileLimit();
  if (!IsTmpfs(kSharedMemory)) return Unavailable("{} is no tmpfs", kSharedMemory);
  directory_.emplace(kSharedMemory);
  RETURN_IF_ERROR(image_->WriteTo(directory_->path()));
  HostPaths paths = HostPaths::Below(directory_->path());
  if (where_ == Where::kCgroups) {
    paths.cgroup = RealKubepods::kRoot;
  } else if (version_ == CgroupVersion::kV2) {
    RETURN_IF_ERROR(TieEffectiveCpusets(paths.cgroup));
  }
  ASSIGN_OR_RETURN(host_, DiscoverHost(paths, image_->layout().driver));
  image_.reset();  // koordlet's memory is looked at, too
  return absl::OkStatus();
}

}  // namespace koord::koordlet
