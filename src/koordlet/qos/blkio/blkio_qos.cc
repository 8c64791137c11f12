#include "koordlet/qos/blkio/blkio_qos.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/default_strategies.h"
#include "api/keys.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr Duration kMaxAge = std::chrono::seconds(60);

constexpr CgroupFile kLimitFiles[] = {CgroupFile::kBlkioReadIops, CgroupFile::kBlkioReadBps,
                                      CgroupFile::kBlkioWriteIops, CgroupFile::kBlkioWriteBps,
                                      CgroupFile::kBlkioCostWeight};
constexpr CgroupFile kDiskFiles[] = {CgroupFile::kBlkioCostQos};

int64_t AtLeastZero(std::optional<int64_t> value) {
  return std::max<int64_t>(value.value_or(0), 0);
}

bool IsOn(const std::optional<api::ResourceQos>& of_class) {
  return of_class && of_class->blkio_qos && of_class->blkio_qos->enable.value_or(false);
}

// Nothing and zero are no limit.
void BoundLimit(std::optional<int64_t>& own, const std::optional<int64_t>& most) {
  if (most.value_or(0) <= 0) return;
  if (own.value_or(0) <= 0 || *own > *most) own = most;
}

// "253:16"
bool IsDisk(std::string_view word) {
  const size_t colon = word.find(':');
  return colon != word.npos && NumberOf<uint32_t>(word.substr(0, colon)) &&
         NumberOf<uint32_t>(word.substr(colon + 1));
}

}  // namespace

std::vector<BlkioLine> BlkioLimits(std::string_view disk, const api::IoConfig& config) {
  const auto line = [&](CgroupFile file, int64_t value) {
    return BlkioLine{file, fmt::format("{} {}", disk, value)};
  };
  return {line(CgroupFile::kBlkioReadIops, AtLeastZero(config.read_iops)),
          line(CgroupFile::kBlkioReadBps, AtLeastZero(config.read_bps)),
          line(CgroupFile::kBlkioWriteIops, AtLeastZero(config.write_iops)),
          line(CgroupFile::kBlkioWriteBps, AtLeastZero(config.write_bps)),
          line(CgroupFile::kBlkioCostWeight,
               config.io_weight_percent.value_or(api::kDefaultIoWeightPercent))};
}

std::vector<BlkioLine> NoBlkioLimits(std::string_view disk) { return BlkioLimits(disk, {}); }

std::vector<BlkioLine> DiskModel(std::string_view disk, const api::IoConfig& config) {
  const auto one = [](std::optional<int64_t> value) { return value.value_or(1); };
  std::string qos =
      fmt::format("{} enable=1 ctrl=user rpct={} rlat={} wpct={} wlat={}", disk,
                  config.read_latency_percent.value_or(api::kDefaultIoLatencyPercent),
                  config.read_latency.value_or(api::kDefaultIoLatencyMicros),
                  config.write_latency_percent.value_or(api::kDefaultIoLatencyPercent),
                  config.write_latency.value_or(api::kDefaultIoLatencyMicros));
  std::string model = fmt::format("{} ctrl=auto", disk);
  if (config.enable_user_model.value_or(false)) {
    model = fmt::format(
        "{} ctrl=user rbps={} rseqiops={} rrandiops={} wbps={} wseqiops={} wrandiops={}", disk,
        one(config.model_read_bps), one(config.model_read_seq_iops),
        one(config.model_read_rand_iops), one(config.model_write_bps),
        one(config.model_write_seq_iops), one(config.model_write_rand_iops));
  }
  return {{CgroupFile::kBlkioCostQos, std::move(qos)},
          {CgroupFile::kBlkioCostModel, std::move(model)}};
}

std::vector<BlkioLine> NoDiskModel(std::string_view disk) {
  return {{CgroupFile::kBlkioCostQos, fmt::format("{} enable=0", disk)}};
}

BlkioQosStrategy::BlkioQosStrategy(const QosContext& context)
    : context_(context), problems_("BlkioReconcile") {}

void BlkioQosStrategy::Run() {
  if (context_.host.cgroups().layout().version != CgroupVersion::kV1) return;
  NodeInputs inputs = NodeInputs::Of(context_.state);
  if (inputs.slo == nullptr || !inputs.slo->resource_qos_strategy) return;
  const SteadyTime now = context_.clock.Steady();
  const auto& storage = context_.info.storage();
  if (inputs == inputs_ && storage == storage_ && now - applied_ < kMaxAge) return;
  inputs_ = std::move(inputs);
  storage_ = storage;
  applied_ = now;
  for (const Place& place : Plan()) Apply(place);
}

std::vector<BlkioQosStrategy::Place> BlkioQosStrategy::Plan() {
  const api::ResourceQosStrategy& strategy = *inputs_.slo->resource_qos_strategy;
  const auto blocks_of = [](const std::optional<api::ResourceQos>& of_class) {
    return IsOn(of_class) ? of_class->blkio_qos->blocks : std::vector<api::BlockConfig>();
  };
  std::vector<Place> places;
  places.push_back({.dir = {}, .is_root = true, .blocks = blocks_of(strategy.cgroup_root)});
  places.push_back({.dir = context_.host.cgroups().layout().QosDir(kube::PodQos::kBestEffort),
                    .blocks = blocks_of(strategy.be_class)});
  for (const NodePod& pod : *inputs_.pods) {
    if (auto place = PlanPod(pod)) places.push_back(*std::move(place));
  }
  return places;
}

std::optional<BlkioQosStrategy::Place> BlkioQosStrategy::PlanPod(const NodePod& pod) {
  const auto& annotations = pod.pod->metadata.annotations;
  const std::string* text = kube::FindValue(annotations, api::kAnnotationBlkioQos);
  if (text == nullptr || pod.pod->status.phase != "Running" ||
      pod.raw_qos == api::QosClass::kNone) {
    return std::nullopt;
  }
  Place place{.dir = pod.dir, .pod = &pod, .blocks = {}};
  if (text->empty()) return place;
  auto blocks = api::BlkioBlocksOf(annotations);
  if (!blocks.ok()) {
    problems_.Report({.object = NameOf(pod), .kind = "annotation is malformed"}, blocks.status());
    return std::nullopt;
  }
  place.blocks = *std::move(blocks);
  return place;
}

void BlkioQosStrategy::Apply(const Place& place) {
  std::vector<std::pair<std::string, const api::BlockConfig*>> disks;
  for (const api::BlockConfig& block : place.blocks) {
    auto disk = DiskOf(place, block);
    if (!disk) {
      problems_.Report({.object = place.dir, .kind = "block device is not known"},
                       NotFound("no disk for {} {}", block.type, block.name));
      return;
    }
    disks.emplace_back(*std::move(disk), &block);
  }
  for (const auto& [disk, block] : disks) {
    if (place.is_root) {
      Write(place, DiskModel(disk, block->io_config));
    } else {
      Write(place, BlkioLimits(disk, Bounded(place, disk, block->io_config)));
    }
  }
  for (const std::string& disk : ConfiguredDisks(place)) {
    const bool wanted =
        std::ranges::any_of(disks, [&](const auto& known) { return known.first == disk; });
    if (!wanted) Write(place, place.is_root ? NoDiskModel(disk) : NoBlkioLimits(disk));
  }
}

// A pod may ask for less than its class has, not for more.
api::IoConfig BlkioQosStrategy::Bounded(const Place& place, std::string_view disk,
                                        api::IoConfig config) const {
  const bool is_be = place.pod != nullptr && place.pod->qos == api::QosClass::kBe;
  const auto& of_class = inputs_.slo->resource_qos_strategy->be_class;
  if (!is_be || context_.trust_pod_authors || !IsOn(of_class)) return config;
  for (const api::BlockConfig& block : of_class->blkio_qos->blocks) {
    if (DiskOf(Place{}, block) != disk) continue;
    const api::IoConfig& most = block.io_config;
    BoundLimit(config.read_iops, most.read_iops);
    BoundLimit(config.write_iops, most.write_iops);
    BoundLimit(config.read_bps, most.read_bps);
    BoundLimit(config.write_bps, most.write_bps);
    BoundLimit(config.io_weight_percent, most.io_weight_percent);
  }
  return config;
}

std::optional<std::string> BlkioQosStrategy::DiskOf(const Place& place,
                                                    const api::BlockConfig& block) const {
  if (storage_ == nullptr) return std::nullopt;
  if (block.type == "device") return storage_->DiskOfDevice(block.name);
  if (block.type == "volumegroup") return storage_->DiskOfVolumeGroup(block.name);
  if (block.type == "podvolume" && place.pod != nullptr) {
    return DiskOfPodVolume(*place.pod, block.name);
  }
  return std::nullopt;
}

std::optional<std::string> BlkioQosStrategy::DiskOfPodVolume(const NodePod& pod,
                                                             std::string_view volume) const {
  const auto& volumes = pod.pod->spec.volumes;
  const auto it = std::ranges::find(volumes, volume, &kube::Volume::name);
  if (it == volumes.end()) return std::nullopt;
  std::string name;
  if (it->persistent_volume_claim) {
    if (!context_.volume_of_claim) return std::nullopt;
    name = context_.volume_of_claim(pod.pod->metadata.ns, it->persistent_volume_claim->claim_name);
  } else if (it->csi) {
    name = it->name;
  }
  if (name.empty()) return std::nullopt;
  return storage_->DiskOfMount(fmt::format("{}/pods/{}/volumes/kubernetes.io~csi/{}/mount",
                                           context_.options.kubelet_dir, pod.uid(), name));
}

std::vector<std::string> BlkioQosStrategy::ConfiguredDisks(const Place& place) const {
  std::vector<std::string> disks;
  const auto collect = [&](CgroupFile file) {
    const auto text = context_.host.cgroups().Read(file, place.dir);
    if (!text.ok()) return;
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view line = TakeLine(rest);
      const std::string_view disk = TakeWord(line);
      const bool off = file == CgroupFile::kBlkioCostQos && line.find("enable=0") != line.npos;
      if (IsDisk(disk) && !off) disks.emplace_back(disk);
    }
  };
  if (place.is_root) {
    for (const CgroupFile file : kDiskFiles) collect(file);
  } else {
    for (const CgroupFile file : kLimitFiles) collect(file);
  }
  std::ranges::sort(disks);
  disks.erase(std::unique(disks.begin(), disks.end()), disks.end());
  return disks;
}

void BlkioQosStrategy::Write(const Place& place, const std::vector<BlkioLine>& lines) {
  AuditEvent about{.type = place.pod == nullptr ? AuditEvent::Type::kGroup : AuditEvent::Type::kPod,
                   .level = 3,
                   .ns = {},
                   .name = place.dir.path(),
                   .container = {},
                   .reason = "BlkioReconcile",
                   .message = {}};
  if (place.pod != nullptr) {
    about.ns = place.pod->pod->metadata.ns;
    about.name = place.pod->pod->metadata.name;
  }
  for (const BlkioLine& line : lines) {
    const auto written =
        context_.executor.Apply({CgroupTarget{line.file, place.dir}, line.text, about});
    if (!written.ok()) problems_.Report({.object = place.dir, .kind = line.text}, written.status());
  }
}

}  // namespace koord::koordlet
