#include "koordlet/metrics/gpu/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "koordlet/metrics/gpu/nvml_abi.h"

namespace koord::koordlet {
namespace {

// Errors that applications cause by themselves; the device is fine.
constexpr std::array<unsigned long long, 6> kApplicationXids{13, 31, 43, 45, 68, 109};
constexpr Duration kRecovery = std::chrono::minutes(10);
constexpr unsigned int kMaxProcesses = 4096;
constexpr unsigned int kMaxDevices = 64;
constexpr int kMaxEventsAtOnce = 100;

using Library = std::unique_ptr<void, int (*)(void*)>;

template <class F>
bool Bind(void* library, F& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (function != nullptr) return true;
  }
  return false;
}

StatusOr<nvml::Functions> BindAll(void* library) {
  nvml::Functions f{};
  const bool bound =
      Bind(library, f.init, {"nvmlInit_v2", "nvmlInit"}) &&
      Bind(library, f.shutdown, {"nvmlShutdown"}) &&
      Bind(library, f.driver_version, {"nvmlSystemGetDriverVersion"}) &&
      Bind(library, f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}) &&
      Bind(library, f.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}) &&
      Bind(library, f.uuid, {"nvmlDeviceGetUUID"}) &&
      Bind(library, f.minor, {"nvmlDeviceGetMinorNumber"}) &&
      Bind(library, f.name, {"nvmlDeviceGetName"}) &&
      Bind(library, f.memory, {"nvmlDeviceGetMemoryInfo"}) &&
      Bind(library, f.utilization, {"nvmlDeviceGetUtilizationRates"}) &&
      Bind(library, f.pci, {"nvmlDeviceGetPciInfo_v3"}) &&
      Bind(library, f.process_utilization, {"nvmlDeviceGetProcessUtilization"}) &&
      Bind(library, f.processes,
           {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  if (!bound) return FailedPrecondition("the GPU library is too old: a function is missing");
  // Health can do without.
  const bool has_events = Bind(library, f.create_events, {"nvmlEventSetCreate"}) &&
                          Bind(library, f.register_events, {"nvmlDeviceRegisterEvents"}) &&
                          Bind(library, f.wait_event, {"nvmlEventSetWait_v2"}) &&
                          Bind(library, f.free_events, {"nvmlEventSetFree"});
  if (!has_events) f.create_events = nullptr;
  return f;
}

class NvmlDevices final : public GpuDevices {
 public:
  NvmlDevices(Library library, const nvml::Functions& functions, const FileTree& sys,
              const Clock& clock)
      : library_(std::move(library)), nvml_(functions), sys_(sys), clock_(clock) {}
  ~NvmlDevices() override {
    if (events_ != nullptr) nvml_.free_events(events_);
    nvml_.shutdown();
  }

  // Devices do not come and go while the driver is loaded.
  Status Find();

  StatusOr<GpuInventory> Inventory() override;
  StatusOr<std::vector<DeviceUsage>> Usage() override;

 private:
  struct Device {
    nvml::Device handle = nullptr;
    GpuDevice info;
    std::optional<SteadyTime> failed_at;
    unsigned long long last_sample = 0;
  };

  std::optional<Device> Describe(unsigned int index);
  void WatchErrors();
  void ReadErrors();
  std::vector<ProcessUsage> Processes(Device& device);
  std::map<int32_t, double> CoreOfProcesses(Device& device);

  Library library_;
  const nvml::Functions nvml_;
  const FileTree& sys_;
  const Clock& clock_;
  std::string driver_version_;
  std::vector<Device> devices_;
  nvml::EventSet events_ = nullptr;
};

std::optional<NvmlDevices::Device> NvmlDevices::Describe(unsigned int index) {
  Device device;
  std::array<char, 128> uuid{};
  std::array<char, 128> name{};
  unsigned int minor = 0;
  nvml::MemoryInfo memory{};
  nvml::PciInfo pci{};
  if (nvml_.handle(index, &device.handle) != nvml::kSuccess ||
      nvml_.uuid(device.handle, uuid.data(), uuid.size() - 1) != nvml::kSuccess ||
      nvml_.minor(device.handle, &minor) != nvml::kSuccess ||
      nvml_.name(device.handle, name.data(), name.size() - 1) != nvml::kSuccess ||
      nvml_.memory(device.handle, &memory) != nvml::kSuccess) {
    return std::nullopt;
  }
  device.info = {.uuid = uuid.data(),
                 .minor = static_cast<int32_t>(minor),
                 .model = name.data(),
                 .memory_total = static_cast<int64_t>(memory.total)};
  if (nvml_.pci(device.handle, &pci) == nvml::kSuccess) {
    device.info.bus_id.assign(pci.bus_id, strnlen(pci.bus_id, sizeof(pci.bus_id)));
    LocateOnPci(sys_, device.info);
  }
  return device;
}

Status NvmlDevices::Find() {
  std::array<char, 128> version{};
  unsigned int count = 0;
  if (nvml_.driver_version(version.data(), version.size() - 1) != nvml::kSuccess ||
      nvml_.count(&count) != nvml::kSuccess) {
    return Unavailable("the GPU driver does not answer");
  }
  driver_version_ = version.data();
  for (unsigned int i = 0; i < std::min(count, kMaxDevices); ++i) {
    if (auto device = Describe(i)) {
      devices_.push_back(std::move(*device));
    } else {
      LOG_WARNING("A GPU does not answer and is left out", {"index", i});
    }
  }
  std::ranges::sort(devices_, {}, [](const Device& device) { return device.info.minor; });
  WatchErrors();
  return absl::OkStatus();
}

void NvmlDevices::WatchErrors() {
  if (nvml_.create_events == nullptr || nvml_.create_events(&events_) != nvml::kSuccess) {
    events_ = nullptr;
  }
  for (Device& device : devices_) {
    device.info.health_supported =
        events_ != nullptr &&
        nvml_.register_events(device.handle, nvml::kXidCriticalError, events_) == nvml::kSuccess;
  }
}

void NvmlDevices::ReadErrors() {
  nvml::EventData event{};
  for (int i = 0; events_ != nullptr && i < kMaxEventsAtOnce; ++i) {
    if (nvml_.wait_event(events_, &event, 0) != nvml::kSuccess) break;
    if (event.type != nvml::kXidCriticalError) continue;
    if (std::ranges::find(kApplicationXids, event.data) != kApplicationXids.end()) continue;
    for (Device& device : devices_) {
      // Some errors belong to no device: all may be affected.
      if (event.device != nullptr && event.device != device.handle) continue;
      device.info.xid = event.data;
      device.failed_at = clock_.Steady();
    }
  }
  for (Device& device : devices_) {
    if (device.failed_at.has_value() && clock_.Steady() - *device.failed_at >= kRecovery) {
      device.failed_at.reset();
      device.info.xid.reset();
    }
  }
}

StatusOr<GpuInventory> NvmlDevices::Inventory() {
  ReadErrors();
  GpuInventory inventory{.driver_version = driver_version_};
  for (const Device& device : devices_) inventory.gpus.push_back(device.info);
  return inventory;
}

std::map<int32_t, double> NvmlDevices::CoreOfProcesses(Device& device) {
  unsigned int count = 0;
  const auto result = nvml_.process_utilization(device.handle, nullptr, &count, device.last_sample);
  if ((result != nvml::kInsufficientSize && result != nvml::kSuccess) || count == 0) return {};
  std::vector<nvml::ProcessUtilization> samples(std::min(count, kMaxProcesses));
  count = static_cast<unsigned int>(samples.size());
  if (nvml_.process_utilization(device.handle, samples.data(), &count, device.last_sample) !=
      nvml::kSuccess) {
    return {};
  }
  samples.resize(std::min<size_t>(count, samples.size()));
  // Of several samples of a process the newest counts.
  std::ranges::sort(samples, {}, &nvml::ProcessUtilization::timestamp);
  std::map<int32_t, double> cores;
  for (const nvml::ProcessUtilization& sample : samples) {
    cores[static_cast<int32_t>(sample.pid)] = sample.sm;
    device.last_sample = std::max(device.last_sample, sample.timestamp);
  }
  return cores;
}

std::vector<GpuDevices::ProcessUsage> NvmlDevices::Processes(Device& device) {
  unsigned int count = 0;
  const auto result = nvml_.processes(device.handle, &count, nullptr);
  if ((result != nvml::kInsufficientSize && result != nvml::kSuccess) || count == 0) return {};
  // Others may start meanwhile.
  std::vector<nvml::ProcessInfo> infos(std::min(count + 8, kMaxProcesses));
  count = static_cast<unsigned int>(infos.size());
  if (nvml_.processes(device.handle, &count, infos.data()) != nvml::kSuccess) return {};
  infos.resize(std::min<size_t>(count, infos.size()));
  const std::map<int32_t, double> cores = CoreOfProcesses(device);
  std::vector<ProcessUsage> processes;
  for (const nvml::ProcessInfo& info : infos) {
    const auto pid = static_cast<int32_t>(info.pid);
    const auto core = cores.find(pid);
    const bool has_memory = info.used_memory != nvml::kNoMemoryValue;
    processes.push_back({.pid = pid,
                         .core_percent = core == cores.end() ? 0 : core->second,
                         .memory = has_memory ? static_cast<int64_t>(info.used_memory) : 0});
  }
  return processes;
}

StatusOr<std::vector<GpuDevices::DeviceUsage>> NvmlDevices::Usage() {
  std::vector<DeviceUsage> usage;
  for (Device& device : devices_) {
    nvml::Utilization utilization{};
    nvml::MemoryInfo memory{};
    if (nvml_.utilization(device.handle, &utilization) != nvml::kSuccess ||
        nvml_.memory(device.handle, &memory) != nvml::kSuccess) {
      continue;
    }
    usage.push_back({.uuid = device.info.uuid,
                     .core_percent = static_cast<double>(utilization.gpu),
                     .memory = static_cast<int64_t>(memory.used),
                     .processes = Processes(device)});
  }
  return usage;
}

}  // namespace

StatusOr<std::unique_ptr<GpuDevices>> LoadNvml(const FileTree& sys, const Clock& clock,
                                               const std::string& library) {
  Library handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), &dlclose);
  if (handle == nullptr) return NotFound("no GPU library: {}", dlerror());
  ASSIGN_OR_RETURN(const nvml::Functions functions, BindAll(handle.get()));
  if (const auto result = functions.init(); result != nvml::kSuccess) {
    return Unavailable("the GPU library does not start: error {}", result);
  }
  auto devices = std::make_unique<NvmlDevices>(std::move(handle), functions, sys, clock);
  RETURN_IF_ERROR(devices->Find());
  return devices;
}

}  // namespace koord::koordlet
