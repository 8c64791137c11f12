#include "cli/drawing/device_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/shorten.h"
#include "base/strings.h"
#include "kube/quantity.h"

namespace koord::cli {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr int kBar = 10;  // characters

struct ShareHolder {
  std::string pod;
  std::string share;
};
struct DrawnDevice {
  std::string type;
  int64_t minor = 0;
  int64_t numa_node = -1;
  std::string pcie;
  int64_t used = -1;  // percent; -1: it is not healthy
  std::vector<ShareHolder> holders;

  auto place() const { return std::tuple(numa_node < 0, numa_node, pcie); }
};

int64_t AmountIn(const Json& list, std::string_view name) {
  const auto amount = kube::Quantity::Parse(kube::FindString(list, {name}));
  return amount.ok() ? amount->Value() : 0;
}

// The largest share of anything that a device has.
int64_t PercentOf(const Json& used, const Json& total) {
  int64_t most = -1;
  for (const auto& [name, value] : total.as_object()) {
    const int64_t whole = AmountIn(total, name);
    if (whole > 0) {
      most = std::max(
          most, static_cast<int64_t>(100 * static_cast<__int128>(AmountIn(used, name)) / whole));
    }
  }
  return most;
}

// "50%" of a share by percent, otherwise its first amount.
std::string ShareText(const Json& share) {
  for (const std::string_view name : {"koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio",
                                      "koordinator.sh/rdma", "koordinator.sh/fpga"}) {
    const std::string_view text = kube::FindString(share, {name});
    if (!text.empty()) return fmt::format("{}%", text);
  }
  for (const auto& [name, value] : share.as_object()) {
    if (value.is_string()) return std::string(value.as_string());
  }
  return "";
}

const json::object* ObjectIn(const Json& node, std::string_view part) {
  const Json* const found = kube::Find(node, {part});
  return found == nullptr ? nullptr : found->if_object();
}

std::vector<DrawnDevice> DevicesIn(const Json& node) {
  std::vector<DrawnDevice> devices;
  const json::object* const totals = ObjectIn(node, "deviceTotalDetail");
  if (totals == nullptr) return devices;
  const Json none = json::object();
  for (const auto& [type, by_minor] : *totals) {
    if (!by_minor.is_object()) continue;
    for (const auto& [minor, total] : by_minor.as_object()) {
      if (!total.is_object()) continue;
      DrawnDevice& device = devices.emplace_back();
      device.type = std::string(type);
      device.minor = ParseInt(std::string_view(minor)).value_or(0);
      const Json* const used = kube::Find(node, {"deviceUsedDetail", type, minor});
      device.used = PercentOf(used == nullptr || !used->is_object() ? none : *used, total);
      if (const Json* place = kube::Find(node, {"deviceTopology", type, minor})) {
        if (const Json* id = kube::Find(*place, {"nodeID"}); id != nullptr && id->is_int64()) {
          device.numa_node = id->as_int64();
        }
        device.pcie = kube::FindString(*place, {"pcieID"});
      }
      const Json* const holders = kube::Find(node, {"allocateSet", type});
      if (holders == nullptr || !holders->is_object()) continue;
      for (const auto& [pod, shares] : holders->as_object()) {
        const Json* const share = kube::Find(shares, {minor});
        if (share != nullptr && share->is_object()) {
          device.holders.push_back({std::string(pod), ShareText(*share)});
        }
      }
    }
  }
  std::ranges::stable_sort(devices, [](const DrawnDevice& a, const DrawnDevice& b) {
    return std::tuple(a.place(), a.type, a.minor) < std::tuple(b.place(), b.type, b.minor);
  });
  return devices;
}

std::string LineOf(const DrawnDevice& device, size_t width) {
  std::string bar(kBar, '.');
  const auto full = std::clamp<int64_t>((device.used * kBar + 99) / 100, 0, kBar);
  std::fill_n(bar.begin(), full, '#');
  std::string line =
      device.used < 0
          ? fmt::format("    {:<4} {:<3} not healthy", device.type, device.minor)
          : fmt::format("    {:<4} {:<3} [{}] {:>3}%", device.type, device.minor, bar, device.used);
  size_t left = device.holders.size();
  for (const ShareHolder& holder : device.holders) {
    const std::string text = fmt::format("{}{} {}", left == device.holders.size() ? "  " : ", ",
                                         holder.pod, holder.share);
    const std::string more = fmt::format(", and {} more", left);
    const size_t reserved = left > 1 ? more.size() : 0;
    if (line.size() + text.size() + reserved > width) {
      line += left == device.holders.size() ? fmt::format("  {} pods", left) : more;
      break;
    }
    line += text;
    --left;
  }
  return line;
}

}  // namespace

StatusOr<std::string> DrawDevices(const Json& node, size_t width) {
  const std::vector<DrawnDevice> devices = DevicesIn(node);
  if (devices.empty()) return InvalidArgument("expected deviceTotalDetail with devices");
  std::string text = "Devices\n";
  const DrawnDevice* last = nullptr;
  for (const DrawnDevice& device : devices) {
    if (last == nullptr || last->numa_node != device.numa_node) {
      text +=
          device.numa_node < 0 ? "no NUMA node\n" : fmt::format("NUMA node {}\n", device.numa_node);
    }
    if (!device.pcie.empty() && (last == nullptr || last->place() != device.place())) {
      text += Shorten(fmt::format("  PCIe {}", device.pcie), width) + "\n";
    }
    text += LineOf(device, width) + "\n";
    last = &device;
  }
  return text;
}

}  // namespace koord::cli
