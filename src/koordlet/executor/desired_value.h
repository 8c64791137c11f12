#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "base/status.h"
#include "koordlet/host/cgroup_file.h"
#include "koordlet/host/limit.h"

namespace koord::koordlet {

// A value for a file of a cgroup: understood, within the file's legal range, and in the words of
// the kernel's version. Values are compared by what they mean, not by their text.
class DesiredValue {
 public:
  // `value` in version 1's units, see Update. An error says what is expected.
  static StatusOr<DesiredValue> Parse(CgroupFile file, CgroupVersion version, int64_t page_size,
                                      std::string_view value);

  // Whether a file with this content needs no write.
  bool Matches(std::string_view current) const;
  // What to write into it.
  std::string TextFor(std::string_view current) const;

  // Whether the file bounds those of its children, so that the order of writes matters.
  static bool BoundsChildren(CgroupFile file);
  // What to write first so that the file allows all that it did and shall; none: it does already.
  StatusOr<std::optional<std::string>> Loosened(std::string_view current) const;

 private:
  enum class Kind : uint8_t {
    kNumber,
    kQuota,
    kPeriod,
    kMemory,
    kCpus,
    kDeviceNumber,   // "253:16 1000"
    kDeviceOptions,  // "253:16 enable=1 ..."
  };

  DesiredValue(CgroupFile file, CgroupVersion version, Kind kind)
      : file_(file), version_(version), kind_(kind) {}

  static StatusOr<Kind> KindOf(CgroupFile file);
  Status ParseNumber(std::string_view value);
  Status ParseQuota(std::string_view value);
  Status ParseMemory(std::string_view value, int64_t page_size);
  Status ParseCpus(std::string_view value);
  Status ParseDevice(std::string_view value);
  Status CheckRange(int64_t number) const;
  std::string_view name() const { return InfoOf(file_, version_)->name; }
  std::string TextOf(Limit limit) const;
  std::string BandwidthText(std::string_view text, std::string_view current) const;
  StatusOr<Limit> CurrentLimit(std::string_view current) const;
  bool DeviceMatches(std::string_view current) const;

  CgroupFile file_;
  CgroupVersion version_;
  Kind kind_;
  Limit limit_ = Limit::Unlimited();  // of numbers, the number
  int64_t page_size_ = 1;
  CpuSet cpus_;
  std::string text_;
  std::string device_;
};

}  // namespace koord::koordlet
