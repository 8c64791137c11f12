#include "koordlet/metrics/gpu/gpu_devices.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// "0000:3b:00.0"; empty: no such id. It becomes part of a path, so nothing else may be in it.
std::string CanonicalBusId(std::string_view text) {
  const std::string lower = ToLower(text);
  std::string_view rest = lower;
  std::string_view domain = TakeUntil(rest, ':');
  const std::string_view bus = TakeUntil(rest, ':');
  const std::string_view device = TakeUntil(rest, '.');
  if (domain.size() > 4 && domain.starts_with("0000")) domain.remove_prefix(domain.size() - 4);
  if (!IsHex(domain, 4) || !IsHex(bus, 2) || !IsHex(device, 2) || !IsHex(rest, 1)) return "";
  return fmt::format("{}:{}:{}.{}", domain, bus, device, rest);
}

// "pci0000:3a" of "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
std::string PcieRootOf(std::string_view link) {
  while (!link.empty()) {
    const std::string_view part = TakeUntil(link, '/');
    if (part.starts_with("pci")) return std::string(part);
  }
  return "";
}

}  // namespace

void LocateOnPci(const FileTree& sys, GpuDevice& gpu) {
  gpu.bus_id = CanonicalBusId(gpu.bus_id);
  if (gpu.bus_id.empty()) return;
  std::string dir = "bus/pci/devices/" + gpu.bus_id;
  if (const auto link = sys.ReadLink(dir); link.ok()) {
    std::string_view target = Trim(*link);
    gpu.pcie_root = PcieRootOf(target);
    while (target.starts_with("../")) target.remove_prefix(3);
    if (!gpu.pcie_root.empty()) dir = target;
  }
  const auto text = sys.Read(dir + "/numa_node");
  if (!text.ok()) return;
  // A machine without NUMA says -1: all of it is node 0.
  if (const auto node = NumberOf<int32_t>(Trim(*text))) gpu.numa_node = std::max(*node, 0);
}

}  // namespace koord::koordlet
