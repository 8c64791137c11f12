// A management library for tests: two GPUs, of which the second reports an error once.
#include <cstdio>
#include <cstring>

#include "koordlet/metrics/gpu/nvml_abi.h"

namespace {

using koord::koordlet::nvml::Device;
using koord::koordlet::nvml::EventData;
using koord::koordlet::nvml::EventSet;
using koord::koordlet::nvml::MemoryInfo;
using koord::koordlet::nvml::PciInfo;
using koord::koordlet::nvml::ProcessInfo;
using koord::koordlet::nvml::ProcessUtilization;
using koord::koordlet::nvml::Result;
using koord::koordlet::nvml::Utilization;

char g_devices[2];  // their addresses are the handles
int g_events = 0;

int IndexOf(Device device) { return device == &g_devices[0] ? 0 : 1; }

}  // namespace

extern "C" {

Result nvmlInit_v2() {
  g_events = 0;
  return 0;
}
Result nvmlShutdown() { return 0; }
Result nvmlSystemGetDriverVersion(char* text, unsigned int size) {
  std::snprintf(text, size, "535.104.05");
  return 0;
}
Result nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}
// Not in the order of their minors.
Result nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  *device = &g_devices[1 - index];
  return 0;
}
Result nvmlDeviceGetUUID(Device device, char* text, unsigned int size) {
  std::snprintf(text, size, "GPU-%d", IndexOf(device));
  return 0;
}
Result nvmlDeviceGetMinorNumber(Device device, unsigned int* minor) {
  *minor = static_cast<unsigned int>(IndexOf(device));
  return 0;
}
Result nvmlDeviceGetName(Device, char* text, unsigned int size) {
  std::snprintf(text, size, "NVIDIA A100-SXM4-40GB");
  return 0;
}
Result nvmlDeviceGetMemoryInfo(Device device, MemoryInfo* memory) {
  memory->total = 40ULL << 30;
  memory->used = (1ULL + static_cast<unsigned>(IndexOf(device))) << 30;
  memory->free = memory->total - memory->used;
  return 0;
}
Result nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  utilization->gpu = IndexOf(device) == 0 ? 70 : 5;
  utilization->memory = 10;
  return 0;
}
Result nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  std::memset(pci, 0, sizeof(*pci));
  std::snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%dB:00.0", 3 + IndexOf(device));
  return 0;
}
Result nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count,
                                               ProcessInfo* infos) {
  const unsigned int running = IndexOf(device) == 0 ? 2 : 0;
  const bool fits = *count >= running;
  *count = running;
  if (!fits || infos == nullptr) return running == 0 ? 0 : 7;
  infos[0] = {100, 600ULL << 20, 0, 0};
  infos[1] = {200, ~0ULL, 0, 0};
  return 0;
}
Result nvmlDeviceGetProcessUtilization(Device device, ProcessUtilization* samples,
                                       unsigned int* count, unsigned long long) {
  if (IndexOf(device) != 0) return 3;
  const bool fits = *count >= 3;
  *count = 3;
  if (!fits || samples == nullptr) return 7;
  samples[0] = {100, 20, 40, 0, 0, 0};  // the newest of its process
  samples[1] = {100, 10, 90, 0, 0, 0};
  samples[2] = {200, 20, 30, 0, 0, 0};
  return 0;
}
Result nvmlEventSetCreate(EventSet* set) {
  *set = &g_events;
  return 0;
}
Result nvmlDeviceRegisterEvents(Device, unsigned long long, EventSet) { return 0; }
Result nvmlEventSetWait_v2(EventSet, EventData* event, unsigned int timeout) {
  ++g_events;
  if (timeout != 0 || g_events > 2) return 10;
  // An application's own fault on the first, a broken second.
  *event = {g_events == 1 ? &g_devices[0] : &g_devices[1], 8, g_events == 1 ? 31ULL : 79ULL, 0, 0};
  return 0;
}
Result nvmlEventSetFree(EventSet) { return 0; }
}
