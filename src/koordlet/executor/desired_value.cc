#include "koordlet/executor/desired_value.h"

#include <algorithm>
#include <iterator>

#include "base/cpu_set.h"
#include "base/strings.h"
#include "koordlet/host/cgroups.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr int64_t kMinQuotaMicros = 1000;  // the kernel's
constexpr int64_t kMinShares = 2;          // of version 1, whatever is written
constexpr int64_t kMaxShares = 262144;
constexpr int64_t kNoMemoryLimit = 0x7FFFFFFFFFFFF000;  // from here on there is none

std::string_view FirstWord(std::string_view text) { return TakeWord(text); }

bool IsDevice(std::string_view text) {
  const std::string_view major = TakeUntil(text, ':');
  return NumberOf<uint32_t>(major) && NumberOf<uint32_t>(text);
}

}  // namespace

StatusOr<DesiredValue::Kind> DesiredValue::KindOf(CgroupFile file) {
  switch (file) {
    case CgroupFile::kCpuQuota:
      return Kind::kQuota;
    case CgroupFile::kCpuPeriod:
      return Kind::kPeriod;
    case CgroupFile::kCpuset:
      return Kind::kCpus;
    case CgroupFile::kMemoryLimit:
    case CgroupFile::kMemoryMin:
    case CgroupFile::kMemoryLow:
    case CgroupFile::kMemoryHigh:
      return Kind::kMemory;
    case CgroupFile::kBlkioReadIops:
    case CgroupFile::kBlkioReadBps:
    case CgroupFile::kBlkioWriteIops:
    case CgroupFile::kBlkioWriteBps:
    case CgroupFile::kBlkioCostWeight:
      return Kind::kDeviceNumber;
    case CgroupFile::kBlkioCostQos:
    case CgroupFile::kBlkioCostModel:
      return Kind::kDeviceOptions;
    case CgroupFile::kCpuShares:
    case CgroupFile::kCpuBurst:
    case CgroupFile::kCpuBvt:
    case CgroupFile::kCpuIdle:
    case CgroupFile::kMemoryWmarkRatio:
    case CgroupFile::kMemoryWmarkScaleFactor:
    case CgroupFile::kMemoryWmarkMinAdj:
    case CgroupFile::kMemoryPriority:
    case CgroupFile::kMemoryUsePriorityOom:
    case CgroupFile::kMemoryOomGroup:
    case CgroupFile::kPageCacheLimitEnable:
    case CgroupFile::kPageCacheLimitSize:
    case CgroupFile::kPageCacheLimitSync:
    case CgroupFile::kNetClassId:
      return Kind::kNumber;
    case CgroupFile::kCpuStat:
    case CgroupFile::kThreads:
    case CgroupFile::kProcesses:
    case CgroupFile::kCpuUsage:
    case CgroupFile::kCpuPressure:
    case CgroupFile::kMemoryPressure:
    case CgroupFile::kIoPressure:
    case CgroupFile::kMemoryUsage:
    case CgroupFile::kMemoryStat:
    case CgroupFile::kMemoryNumaStat:
    case CgroupFile::kMemoryIdlePageStats:
      break;
  }
  return InvalidArgument("the file is only read");
}

StatusOr<DesiredValue> DesiredValue::Parse(CgroupFile file, CgroupVersion version,
                                           int64_t page_size, std::string_view value) {
  ASSIGN_OR_RETURN(const Kind kind, KindOf(file));
  DesiredValue desired(file, version, kind);
  value = Trim(value);
  switch (kind) {
    case Kind::kNumber:
    case Kind::kPeriod:
      RETURN_IF_ERROR(desired.ParseNumber(value));
      break;
    case Kind::kQuota:
      RETURN_IF_ERROR(desired.ParseQuota(value));
      break;
    case Kind::kMemory:
      RETURN_IF_ERROR(desired.ParseMemory(value, page_size));
      break;
    case Kind::kCpus:
      RETURN_IF_ERROR(desired.ParseCpus(value));
      break;
    case Kind::kDeviceNumber:
    case Kind::kDeviceOptions:
      RETURN_IF_ERROR(desired.ParseDevice(value));
      break;
  }
  return desired;
}

Status DesiredValue::CheckRange(int64_t number) const {
  const CgroupFileInfo& info = *InfoOf(file_, version_);
  if (number >= info.min.value_or(INT64_MIN) && number <= info.max.value_or(INT64_MAX)) {
    return absl::OkStatus();
  }
  return InvalidArgument("{} cannot be {}: expected {} to {}", name(), number,
                         info.min.value_or(INT64_MIN), info.max.value_or(INT64_MAX));
}

Status DesiredValue::ParseNumber(std::string_view value) {
  auto number = NumberOf<int64_t>(value);
  if (!number) return InvalidArgument("{} cannot be {}: expected a number", name(), Quote(value));
  if (file_ == CgroupFile::kCpuShares) {
    if (*number < kMinShares || *number > kMaxShares) {
      return InvalidArgument("CPU shares cannot be {}: expected {} to {}", *number, kMinShares,
                             kMaxShares);
    }
    if (version_ == CgroupVersion::kV2) number = WeightOfShares(*number);
  }
  RETURN_IF_ERROR(CheckRange(*number));
  limit_ = Limit::Of(*number);
  text_ = std::to_string(*number);
  return absl::OkStatus();
}

Status DesiredValue::ParseQuota(std::string_view value) {
  const auto limit = ParseLimit(value);
  if (!limit.ok() || limit->value() < kMinQuotaMicros) {
    return InvalidArgument("{} cannot be {}: expected -1 or at least {}", name(), Quote(value),
                           kMinQuotaMicros);
  }
  if (!limit->unlimited()) RETURN_IF_ERROR(CheckRange(limit->value()));
  limit_ = *limit;
  text_ = TextOf(limit_);
  return absl::OkStatus();
}

Status DesiredValue::ParseMemory(std::string_view value, int64_t page_size) {
  const auto limit = ParseLimit(value);
  if (!limit.ok() || (value == "-1" && file_ != CgroupFile::kMemoryLimit)) {
    return InvalidArgument("{} cannot be {}: expected bytes or max", name(), Quote(value));
  }
  page_size_ = std::max<int64_t>(page_size, 1);
  limit_ = limit->value() >= kNoMemoryLimit ? Limit::Unlimited() : *limit;
  text_ = TextOf(limit_);
  return absl::OkStatus();
}

Status DesiredValue::ParseCpus(std::string_view value) {
  ASSIGN_OR_RETURN(cpus_, CpuSet::Parse(value));
  if (cpus_.empty()) return InvalidArgument("{} cannot be empty: expected CPUs", name());
  text_ = value;
  return absl::OkStatus();
}

Status DesiredValue::ParseDevice(std::string_view value) {
  std::string_view rest = value;
  device_ = TakeWord(rest);
  rest = Trim(rest);
  if (!IsDevice(device_) || rest.empty() || rest.find('\n') != rest.npos) {
    return InvalidArgument("{} cannot be {}: expected <major>:<minor> and a value", name(),
                           Quote(value));
  }
  text_ = value;
  if (kind_ == Kind::kDeviceOptions) return absl::OkStatus();
  const auto number = NumberOf<int64_t>(rest);
  if (!number) {
    return InvalidArgument("{} cannot be {}: expected a number after the device", name(),
                           Quote(value));
  }
  limit_ = Limit::Of(*number);
  return CheckRange(*number);
}

std::string DesiredValue::TextOf(Limit limit) const {
  if (!limit.unlimited()) return std::to_string(limit.value());
  // Version 1 has a word for it only in the files that it has from version 2.
  const bool minus = version_ == CgroupVersion::kV1 &&
                     (kind_ == Kind::kQuota || file_ == CgroupFile::kMemoryLimit);
  return minus ? "-1" : "max";
}

StatusOr<Limit> DesiredValue::CurrentLimit(std::string_view current) const {
  ASSIGN_OR_RETURN(const Limit limit,
                   ParseLimit(kind_ == Kind::kQuota ? FirstWord(current) : current));
  return kind_ == Kind::kMemory && limit.value() >= kNoMemoryLimit ? Limit::Unlimited() : limit;
}

bool DesiredValue::DeviceMatches(std::string_view current) const {
  // No limit and no line for the device are the same.
  const bool same_without = kind_ == Kind::kDeviceNumber && limit_ == Limit::Of(0);
  while (!current.empty()) {
    const std::string_view line = Trim(TakeLine(current));
    if (same_without ? FirstWord(line) == device_ : line == text_) return !same_without;
  }
  return same_without;
}

bool DesiredValue::Matches(std::string_view current) const {
  switch (kind_) {
    case Kind::kNumber: {
      const auto number = NumberOf<int64_t>(Trim(current));
      return number && *number == limit_.value();
    }
    case Kind::kPeriod: {
      if (version_ == CgroupVersion::kV2) TakeWord(current);
      const auto number = NumberOf<int64_t>(Trim(current));
      return number && *number == limit_.value();
    }
    case Kind::kQuota: {
      const auto limit = CurrentLimit(current);
      return limit.ok() && *limit == limit_;
    }
    case Kind::kMemory: {
      const auto limit = CurrentLimit(current);
      if (!limit.ok()) return false;
      if (limit->unlimited() || limit_.unlimited()) return *limit == limit_;
      return limit->value() / page_size_ == limit_.value() / page_size_;
    }
    case Kind::kCpus: {
      const auto cpus = CpuSet::Parse(Trim(current));
      return cpus.ok() && *cpus == cpus_;
    }
    case Kind::kDeviceNumber:
    case Kind::kDeviceOptions:
      break;
  }
  return DeviceMatches(current);
}

std::string DesiredValue::TextFor(std::string_view current) const {
  return kind_ == Kind::kQuota || kind_ == Kind::kPeriod ? BandwidthText(text_, current) : text_;
}

// Version 2 has quota and period in one file: the other one stays as it is.
std::string DesiredValue::BandwidthText(std::string_view text, std::string_view current) const {
  if (version_ == CgroupVersion::kV1) return std::string(text);
  const std::string_view quota = TakeWord(current);
  const std::string_view period = TakeWord(current);
  if (kind_ == Kind::kPeriod) return fmt::format("{} {}", quota.empty() ? "max" : quota, text);
  return period.empty() ? std::string(text) : fmt::format("{} {}", text, period);
}

bool DesiredValue::BoundsChildren(CgroupFile file) {
  return file == CgroupFile::kCpuQuota || file == CgroupFile::kCpuset ||
         file == CgroupFile::kMemoryMin || file == CgroupFile::kMemoryLow ||
         file == CgroupFile::kMemoryHigh;
}

StatusOr<std::optional<std::string>> DesiredValue::Loosened(std::string_view current) const {
  if (kind_ != Kind::kCpus) {
    ASSIGN_OR_RETURN(const Limit old, CurrentLimit(current));
    return limit_ > old ? std::optional(TextFor(current)) : std::nullopt;
  }
  ASSIGN_OR_RETURN(const auto old, CpuSet::Parse(Trim(current)));
  if (old.Includes(cpus_)) return std::nullopt;
  return std::optional((old | cpus_).ToString());
}

}  // namespace koord::koordlet
