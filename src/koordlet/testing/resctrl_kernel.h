#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/host/memory_tree.h"

namespace koord::koordlet {

enum class ResctrlFlavour : uint8_t { kNone, kIntel, kAmd };

// Plays the kernel's part in /sys/fs/resctrl: groups come to life with the default schemata, each
// task is in one group, and what the hardware cannot do is refused with InvalidArgument: unknown
// caches, masks that are empty or too wide (on Intel: have holes), bandwidths out of range. Intel's
// bandwidth is rounded up to steps of ten.
class ResctrlKernel {
 public:
  ResctrlKernel(MemoryTree& tree, ResctrlFlavour flavour, std::vector<int32_t> cache_ids,
                uint64_t cbm_mask = 0xfffff);

  std::vector<int32_t> Tasks(std::string_view group) const;

 private:
  using Values = std::map<int32_t, std::string>;  // by cache

  void FillGroup(std::string_view dir);
  Status Write(std::string_view path, std::string_view text);
  Status WriteTask(std::string_view path, std::string_view text);
  Status WriteSchemata(std::string_view path, std::string_view text);
  StatusOr<std::string> CheckMask(std::string_view text) const;
  StatusOr<std::string> CheckBandwidth(std::string_view text) const;
  std::string Line(std::string_view kind, const Values& values) const;
  Values ReadLine(std::string_view path, std::string_view kind) const;

  MemoryTree& tree_;
  const ResctrlFlavour flavour_;
  const std::vector<int32_t> cache_ids_;
  const uint64_t cbm_mask_;
};

}  // namespace koord::koordlet
