#include "koordlet/testing/resctrl_kernel.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "koordlet/host/cgroups.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

Status Refuse(std::string_view path, std::string_view text) {
  return InvalidArgument("{}: invalid argument {}", path, Quote(text, 64));
}

std::string In(std::string_view dir, std::string_view name) {
  return dir.empty() ? std::string(name) : fmt::format("{}/{}", dir, name);
}

std::optional<uint64_t> Hex(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool HasHoles(uint64_t mask) {
  while ((mask & 1) == 0) mask >>= 1;
  return (mask & (mask + 1)) != 0;
}

}  // namespace

ResctrlKernel::ResctrlKernel(MemoryTree& tree, ResctrlFlavour flavour,
                             std::vector<int32_t> cache_ids, uint64_t cbm_mask)
    : tree_(tree), flavour_(flavour), cache_ids_(std::move(cache_ids)), cbm_mask_(cbm_mask) {
  if (flavour_ == ResctrlFlavour::kNone) return;
  const bool intel = flavour_ == ResctrlFlavour::kIntel;
  tree_.Set("info/L3/cbm_mask", fmt::format("{:x}\n", cbm_mask_));
  tree_.Set("info/L3/min_cbm_bits", "1\n");
  tree_.Set("info/L3/num_closids", "16\n");
  tree_.Set("info/MB/min_bandwidth", intel ? "10\n" : "1\n");
  tree_.Set("info/MB/bandwidth_gran", intel ? "10\n" : "1\n");
  tree_.Set("info/MB/num_closids", "8\n");
  FillGroup("");
  tree_.OnMakeDirectory([this](std::string_view path) { FillGroup(path); });
  tree_.OnWrite([this](std::string_view path, std::string_view text) { return Write(path, text); });
}

void ResctrlKernel::FillGroup(std::string_view dir) {
  Values masks;
  Values bandwidths;
  for (const int32_t id : cache_ids_) {
    masks[id] = fmt::format("{:x}", cbm_mask_);
    bandwidths[id] = flavour_ == ResctrlFlavour::kIntel ? "100" : "2048";
    const std::string data = In(dir, fmt::format("mon_data/mon_L3_{:02}", id));
    for (const char* name : {"llc_occupancy", "mbm_local_bytes", "mbm_total_bytes"}) {
      tree_.Set(In(data, name), "0\n");
    }
  }
  tree_.Set(In(dir, "schemata"), Line("L3", masks) + Line("MB", bandwidths));
  tree_.Set(In(dir, "tasks"), "");
}

std::string ResctrlKernel::Line(std::string_view kind, const Values& values) const {
  std::vector<std::string> parts;
  for (const auto& [id, value] : values) parts.push_back(fmt::format("{}={}", id, value));
  return fmt::format("{:>6}:{}\n", kind, Join(parts, ";"));
}

ResctrlKernel::Values ResctrlKernel::ReadLine(std::string_view path, std::string_view kind) const {
  Values values;
  const std::string text = tree_.Read(path).value_or("");
  std::string_view left = text;
  while (!left.empty()) {
    std::string_view line = TakeLine(left);
    if (Trim(TakeUntil(line, ':')) != kind) continue;
    while (!line.empty()) {
      std::string_view value = TakeUntil(line, ';');
      const auto id = NumberOf<int32_t>(TakeUntil(value, '='));
      if (id) values[*id] = value;
    }
  }
  return values;
}

std::vector<int32_t> ResctrlKernel::Tasks(std::string_view group) const {
  return ParseIds(tree_.Read(In(group, "tasks")).value_or("")).value();
}

Status ResctrlKernel::Write(std::string_view path, std::string_view text) {
  if (path.ends_with("tasks")) return WriteTask(path, text);
  if (path.ends_with("schemata")) return WriteSchemata(path, text);
  return absl::PermissionDeniedError(fmt::format("{}: not writable", path));
}

Status ResctrlKernel::WriteTask(std::string_view path, std::string_view text) {
  const auto task = NumberOf<int32_t>(Trim(text));
  if (!task || *task < 0) return Refuse(path, text);
  std::vector<std::string> files = {"tasks"};
  const std::vector<FileTree::Entry> entries = tree_.List("").value();
  for (const FileTree::Entry& entry : entries) {
    if (tree_.Exists(entry.name + "/tasks")) files.push_back(entry.name + "/tasks");
  }
  for (const std::string& file : files) {
    std::vector<int32_t> ids = ParseIds(tree_.Read(file).value()).value();
    std::erase(ids, *task);
    if (file == path) ids.push_back(*task);
    std::ranges::sort(ids);
    std::string lines;
    for (const int32_t id : ids) lines += fmt::format("{}\n", id);
    tree_.Set(file, lines);
  }
  return absl::OkStatus();
}

StatusOr<std::string> ResctrlKernel::CheckMask(std::string_view text) const {
  const auto mask = Hex(text);
  if (!mask || *mask == 0 || (*mask & ~cbm_mask_) != 0 ||
      (flavour_ == ResctrlFlavour::kIntel && HasHoles(*mask))) {
    return Refuse("L3", text);
  }
  return fmt::format("{:x}", *mask);
}

StatusOr<std::string> ResctrlKernel::CheckBandwidth(std::string_view text) const {
  const bool intel = flavour_ == ResctrlFlavour::kIntel;
  const auto value = NumberOf<int64_t>(text);
  if (!value || *value < (intel ? 10 : 1) || *value > (intel ? 100 : 2048)) {
    return Refuse("MB", text);
  }
  return std::to_string(intel ? (*value + 9) / 10 * 10 : *value);
}

Status ResctrlKernel::WriteSchemata(std::string_view path, std::string_view text) {
  if (!text.ends_with('\n')) return Refuse(path, text);
  Values masks = ReadLine(path, "L3");
  Values bandwidths = ReadLine(path, "MB");
  std::string_view left = text;
  while (!left.empty()) {
    std::string_view line = TakeLine(left);
    const std::string_view kind = Trim(TakeUntil(line, ':'));
    if (kind != "L3" && kind != "MB") return Refuse(path, text);
    Values& values = kind == "L3" ? masks : bandwidths;
    while (!line.empty()) {
      std::string_view value = TakeUntil(line, ';');
      const auto id = NumberOf<int32_t>(TakeUntil(value, '='));
      if (!id || !values.contains(*id)) return Refuse(path, text);
      ASSIGN_OR_RETURN(values[*id], kind == "L3" ? CheckMask(value) : CheckBandwidth(value));
    }
  }
  tree_.Set(path, Line("L3", masks) + Line("MB", bandwidths));
  return absl::OkStatus();
}

}  // namespace koord::koordlet
