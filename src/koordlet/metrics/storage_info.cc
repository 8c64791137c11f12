#include "koordlet/metrics/storage_info.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kBlockDir = "class/block";
constexpr int kMaxStackedDevices = 8;
constexpr int64_t kMinorsPerDisk = 16;

struct BlockDevice {
  std::string number;  // "253:1"
  std::string parent;  // of a partition: the disk's number
  std::string mapper;  // "vg-lv"; empty: no mapped device
  bool is_lvm = false;
  std::vector<std::string> slaves;  // names of the devices below
};
using BlockDevices = std::map<std::string, BlockDevice, std::less<>>;  // by kernel name

std::string ReadTrimmed(const FileTree& tree, const std::string& path) {
  const auto text = tree.Read(path);
  return text.ok() ? std::string(Trim(*text)) : std::string();
}

bool IsNumber(std::string_view text) {
  const std::string_view major = TakeUntil(text, ':');
  return NumberOf<uint32_t>(major) && NumberOf<uint32_t>(text);
}

// "../../devices/pci0000:00/.../block/vda/vda1" is below the root of the tree.
std::string DirectoryOf(const FileTree& sys, const std::string& name) {
  const std::string entry = fmt::format("{}/{}", kBlockDir, name);
  const auto link = sys.ReadLink(entry);
  std::string_view target = link.ok() ? Trim(*link) : std::string_view();
  while (target.starts_with("../")) target.remove_prefix(3);
  return target.starts_with("devices/") ? std::string(target) : entry;
}

// Disks have sixteen numbers, the first of which is their own: only where the kernel's own tree
// does not say.
std::string DiskNumberOfPartition(std::string_view number) {
  std::string_view rest = number;
  const std::string_view major = TakeUntil(rest, ':');
  const int64_t minor = NumberOf<int64_t>(rest).value_or(0);
  return fmt::format("{}:{}", major, minor - minor % kMinorsPerDisk);
}

std::string ParentNumber(const FileTree& sys, const std::string& dir, std::string_view number) {
  const std::string above = ReadTrimmed(sys, dir.substr(0, dir.rfind('/')) + "/dev");
  return IsNumber(above) ? above : DiskNumberOfPartition(number);
}

StatusOr<BlockDevices> ReadBlockDevices(const FileTree& sys) {
  ASSIGN_OR_RETURN(const auto entries, sys.List(kBlockDir));
  BlockDevices devices;
  for (const FileTree::Entry& entry : entries) {
    const std::string dir = DirectoryOf(sys, entry.name);
    BlockDevice device;
    device.number = ReadTrimmed(sys, dir + "/dev");
    if (!IsNumber(device.number)) continue;
    if (sys.Exists(dir + "/partition")) device.parent = ParentNumber(sys, dir, device.number);
    device.mapper = ReadTrimmed(sys, dir + "/dm/name");
    device.is_lvm = ReadTrimmed(sys, dir + "/dm/uuid").starts_with("LVM-");
    if (const auto slaves = sys.List(dir + "/slaves"); slaves.ok()) {
      for (const FileTree::Entry& slave : *slaves) device.slaves.push_back(slave.name);
    }
    devices.emplace(entry.name, std::move(device));
  }
  return devices;
}

// The numbers of the one disk below; empty: several, or none.
std::string DiskOf(const BlockDevices& devices, std::string_view name, int depth = 0) {
  const auto it = devices.find(name);
  if (it == devices.end() || depth > kMaxStackedDevices) return "";
  const BlockDevice& device = it->second;
  if (!device.parent.empty()) return device.parent;
  if (device.slaves.empty()) return device.number;
  std::set<std::string> disks;
  for (const std::string& slave : device.slaves) disks.insert(DiskOf(devices, slave, depth + 1));
  return disks.size() == 1 ? *disks.begin() : "";
}

// Of "my--vg-lv": dashes in names are doubled, the single one ends the group's.
std::string VolumeGroupOf(std::string_view mapper) {
  std::string group;
  for (size_t i = 0; i < mapper.size(); ++i) {
    if (mapper[i] == '-') {
      if (i + 1 >= mapper.size() || mapper[i + 1] != '-') return group;
      ++i;
    }
    group += mapper[i];
  }
  return group;
}

std::string DevicePath(std::string name) {
  std::ranges::replace(name, '!', '/');  // "cciss!c0d0"
  return "/dev/" + name;
}

void AddVolumeGroups(const BlockDevices& devices, StorageInfo& info) {
  std::map<std::string, std::set<std::string>> physical_volumes;
  for (const auto& [name, device] : devices) {
    if (!device.is_lvm) continue;
    physical_volumes[VolumeGroupOf(device.mapper)].insert(device.slaves.begin(),
                                                          device.slaves.end());
  }
  for (const auto& [group, volumes] : physical_volumes) {
    if (volumes.size() != 1) continue;
    if (std::string disk = DiskOf(devices, *volumes.begin()); !disk.empty()) {
      info.disk_of_volume_group.emplace(group, std::move(disk));
    }
  }
}

void AddDevices(const BlockDevices& devices, StorageInfo& info) {
  for (const auto& [name, device] : devices) {
    std::string disk;
    if (device.is_lvm) {
      disk = info.DiskOfVolumeGroup(VolumeGroupOf(device.mapper)).value_or("");
    } else {
      disk = DiskOf(devices, name);
    }
    if (disk.empty()) continue;
    info.disk_of_device[DevicePath(name)] = disk;
    if (!device.mapper.empty()) info.disk_of_device["/dev/mapper/" + device.mapper] = disk;
  }
}

// "\040" is a blank.
std::string Unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) { return text[i + at] >= '0' && text[i + at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && digit(1) && digit(2) && digit(3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// "36 35 98:0 /root /mount rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
void AddMount(std::string_view line, const StringMap<std::string>& path_of_number,
              StorageInfo& info) {
  TakeWord(line);
  TakeWord(line);
  const std::string_view number = TakeWord(line);
  TakeWord(line);
  const std::string_view mount_point = TakeWord(line);
  while (!line.empty() && TakeWord(line) != "-") {
  }
  TakeWord(line);
  std::string source = Unescape(TakeWord(line));
  if (!info.disk_of_device.contains(source)) {
    const auto it = path_of_number.find(number);
    if (it == path_of_number.end()) return;
    source = it->second;
  }
  info.device_of_mount[Unescape(mount_point)] = std::move(source);
}

void AddMounts(const FileTree& proc, const BlockDevices& devices, StorageInfo& info) {
  StringMap<std::string> path_of_number;
  for (const auto& [name, device] : devices) {
    if (std::string path = DevicePath(name); info.disk_of_device.contains(path)) {
      path_of_number.emplace(device.number, std::move(path));
    }
  }
  // Of the first process: koordlet itself may see other mounts than the node.
  auto text = proc.Read("1/mountinfo");
  if (!text.ok()) text = proc.Read("self/mountinfo");
  if (!text.ok()) return;
  std::string_view rest = *text;
  while (!rest.empty()) AddMount(TakeLine(rest), path_of_number, info);
}

std::optional<std::string> Find(const StringMap<std::string>& map, std::string_view key) {
  const auto it = map.find(key);
  if (it == map.end()) return std::nullopt;
  return it->second;
}

}  // namespace

std::optional<std::string> StorageInfo::DiskOfDevice(std::string_view path) const {
  return Find(disk_of_device, path);
}

std::optional<std::string> StorageInfo::DiskOfVolumeGroup(std::string_view name) const {
  return Find(disk_of_volume_group, name);
}

std::optional<std::string> StorageInfo::DiskOfMount(std::string_view mount_point) const {
  const auto device = Find(device_of_mount, mount_point);
  if (!device.has_value()) return std::nullopt;
  return DiskOfDevice(*device);
}

StatusOr<StorageInfo> ReadStorageInfo(const FileTree& sys, const FileTree& proc) {
  ASSIGN_OR_RETURN(const BlockDevices devices, ReadBlockDevices(sys));
  StorageInfo info;
  AddVolumeGroups(devices, info);
  AddDevices(devices, info);
  AddMounts(proc, devices, info);
  return info;
}

}  // namespace koord::koordlet
