// Whatever the kernel's lists of devices and mounts hold, every disk that is found has a number.
#include "koordlet/metrics/storage_info.h"

#include "base/fuzz.h"
#include "koordlet/host/memory_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = koord::FuzzText(data, size);
  koord::koordlet::MemoryTree sys;
  koord::koordlet::MemoryTree proc;
  sys.Set("class/block/vda/dev", "253:0");
  sys.Set("class/block/dm-0/dev", "252:0");
  sys.Set("class/block/dm-0/dm/name", text.substr(0, 64));
  sys.Set("class/block/dm-0/dm/uuid", "LVM-x");
  sys.Set("class/block/dm-0/slaves/vda", "");
  sys.Set("class/block/vdb/dev", text.substr(0, 16));
  proc.Set("1/mountinfo", text);
  const auto info = koord::koordlet::ReadStorageInfo(sys, proc);
  FUZZ_ASSERT(info.ok());
  for (const auto& [path, disk] : info->disk_of_device) {
    FUZZ_ASSERT(disk.find(':') != disk.npos);
  }
  for (const auto& [mount, device] : info->device_of_mount) {
    FUZZ_ASSERT(info->DiskOfDevice(device).has_value());
  }
  return 0;
}
