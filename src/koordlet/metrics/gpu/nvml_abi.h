#pragma once
#include <cstdint>

// What we use of the management library's binary interface, declared by ourselves: its header is
// not needed to build.
namespace koord::koordlet::nvml {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kNotSupported = 3;
inline constexpr Result kInsufficientSize = 7;

using Device = void*;
using EventSet = void*;

struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
struct ProcessUtilization {
  unsigned int pid;
  unsigned long long timestamp;
  unsigned int sm;
  unsigned int memory;
  unsigned int encoder;
  unsigned int decoder;
};
struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
inline constexpr unsigned long long kXidCriticalError = 8;
inline constexpr unsigned long long kNoMemoryValue = ~0ULL;

struct Functions {
  Result (*init)();
  Result (*shutdown)();
  Result (*driver_version)(char*, unsigned int);
  Result (*count)(unsigned int*);
  Result (*handle)(unsigned int, Device*);
  Result (*uuid)(Device, char*, unsigned int);
  Result (*minor)(Device, unsigned int*);
  Result (*name)(Device, char*, unsigned int);
  Result (*memory)(Device, MemoryInfo*);
  Result (*utilization)(Device, Utilization*);
  Result (*pci)(Device, PciInfo*);
  Result (*process_utilization)(Device, ProcessUtilization*, unsigned int*, unsigned long long);
  Result (*processes)(Device, unsigned int*, ProcessInfo*);
  Result (*create_events)(EventSet*);
  Result (*register_events)(Device, unsigned long long, EventSet);
  Result (*wait_event)(EventSet, EventData*, unsigned int);
  Result (*free_events)(EventSet);
};

}  // namespace koord::koordlet::nvml
