// Volumes and whatever has to do with them.
#include <fmt/format.h>

#include "scheduler/reference/choose.h"
#include "scheduler/reference/random_objects.h"

namespace koord::scheduler::reference {
namespace {

constexpr int kVolumes = 5;

kube::ResourceList Storage(Random& random) {
  return {{"storage", kube::Quantity(OneOf<int64_t>(random, {1, 5, 10}) << 30)}};
}

std::string RandomClass(Random& random) { return TextOf(random, {"wait", "local", "now", "none"}); }
// A volume never changes its driver.
std::string DriverOf(uint64_t volume) { return volume % 2 == 0 ? "disk.csi" : "file.csi"; }
std::string RandomDriver(Random& random) { return TextOf(random, {"disk.csi", "file.csi"}); }

kube::StorageClass RandomStorageClass(Random& random) {
  kube::StorageClass made;
  made.metadata.name = TextOf(random, {"wait", "local", "now"});
  made.provisioner =
      made.metadata.name == "local" ? "kubernetes.io/no-provisioner" : RandomDriver(random);
  made.volume_binding_mode = made.metadata.name == "now" ? "Immediate" : "WaitForFirstConsumer";
  while (random.Chance(0.25)) {
    kube::TopologySelectorTerm& term = made.allowed_topologies.emplace_back();
    term.match_label_expressions.push_back({kZone, {TextOf(random, {"a", "b"}), "c"}});
  }
  return made;
}

kube::PersistentVolume RandomVolume(Random& random) {
  kube::PersistentVolume volume;
  const uint64_t number = random.Below(kVolumes);
  volume.metadata.name = fmt::format("pv-{}", number);
  if (random.Chance(0.3))
    volume.metadata.labels.Mutable()[kZone] = TextOf(random, {"a", "a__b", "c"});
  if (random.Chance(0.2)) {
    volume.metadata.labels.Mutable()["topology.kubernetes.io/region"] =
        TextOf(random, {"east", "west"});
  }
  volume.spec.capacity = Storage(random);
  volume.spec.access_modes = {"ReadWriteOnce"};
  if (random.Chance(0.5)) volume.spec.access_modes.emplace_back("ReadOnlyMany");
  volume.spec.storage_class_name = TextOf(random, {"wait", "local", "local"});
  volume.status.phase = TextOf(random, {"Available", "Available", "Bound", "Released"});
  if (volume.status.phase == "Bound") {
    volume.spec.claim_ref = kube::ObjectReference{.ns = "three", .name = "other"};
  }
  if (random.Chance(0.7)) {
    volume.spec.csi = kube::CsiPersistentVolumeSource{
        .driver = DriverOf(number), .volume_handle = volume.metadata.name + "-handle"};
  }
  if (random.Chance(0.4)) {
    kube::NodeSelector& nodes = volume.spec.node_affinity.emplace().required.emplace();
    nodes.node_selector_terms.emplace_back().match_expressions.push_back(
        {kZone, "In", {TextOf(random, {"a", "b"}), "c"}});
  }
  return volume;
}

kube::PersistentVolumeClaim RandomClaim(Random& random, WallTime now) {
  kube::PersistentVolumeClaim claim;
  claim.metadata.ns = TextOf(random, {"one", "one", "two"});
  claim.metadata.name = fmt::format("claim-{}", random.Below(4));
  claim.spec.access_modes = {
      TextOf(random, {"ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"})};
  claim.spec.resources.requests = Storage(random);
  claim.spec.storage_class_name = RandomClass(random);
  claim.status.phase = "Pending";
  if (random.Chance(0.5)) {
    claim.spec.volume_name = fmt::format("pv-{}", random.Below(kVolumes));
    claim.metadata.annotations["pv.kubernetes.io/bind-completed"] = "yes";
    claim.status.phase = random.Chance(0.9) ? "Bound" : "Lost";
  } else if (random.Chance(0.2)) {
    claim.metadata.annotations["volume.kubernetes.io/selected-node"] = RandomNodeName(random);
  }
  if (random.Chance(0.1)) claim.spec.selector = kube::LabelSelector{{{kZone, "a"}}, {}};
  if (random.Chance(0.05)) claim.metadata.deletion_timestamp = now;
  return claim;
}

kube::CsiNode RandomCsiNode(Random& random) {
  kube::CsiNode node;
  node.metadata.name = RandomNodeName(random);
  for (const char* driver : {"disk.csi", "file.csi"}) {
    if (!random.Chance(0.8)) continue;
    kube::CsiNodeDriver& made = node.spec.drivers.emplace_back();
    made.name = driver;
    if (random.Chance(0.9)) {
      made.allocatable.emplace().count = static_cast<int32_t>(Between(random, 0, 2));
    }
  }
  return node;
}

kube::CsiStorageCapacity RandomCapacity(Random& random) {
  kube::CsiStorageCapacity capacity;
  capacity.metadata.ns = "storage";
  capacity.metadata.name = TextOf(random, {"capacity-1", "capacity-2"});
  capacity.storage_class_name = TextOf(random, {"wait", "wait", "now"});
  if (random.Chance(0.8)) {
    capacity.node_topology.emplace();
    if (random.Chance(0.6)) {
      capacity.node_topology->match_labels[kZone] = TextOf(random, {"a", "b"});
    }
  }
  if (random.Chance(0.8)) capacity.capacity = kube::Quantity(Between(random, 0, 12) << 30);
  if (random.Chance(0.3)) capacity.maximum_volume_size = kube::Quantity(int64_t{5} << 30);
  return capacity;
}

kube::VolumeAttachment RandomAttachment(Random& random) {
  kube::VolumeAttachment attachment;
  attachment.metadata.name = TextOf(random, {"attachment-1", "attachment-2", "attachment-3"});
  const uint64_t volume = random.Below(kVolumes);
  attachment.spec.attacher = DriverOf(volume);
  attachment.spec.node_name = RandomNodeName(random);
  attachment.spec.source.persistent_volume_name = fmt::format("pv-{}", volume);
  return attachment;
}

}  // namespace

void AddVolumes(kube::Pod& pod, Random& random) {
  kube::Volume volume;
  volume.name = "v";
  switch (random.Below(8)) {
    case 0:
      volume.gce_persistent_disk = kube::GcePersistentDiskVolumeSource{
          TextOf(random, {"disk-1", "disk-2"}), random.Chance(0.5)};
      break;
    case 1:
      volume.aws_elastic_block_store = kube::AwsElasticBlockStoreVolumeSource{
          TextOf(random, {"disk-1", "disk-2"}), random.Chance(0.5)};
      break;
    case 2:
      volume.iscsi = kube::IscsiVolumeSource{.iqn = TextOf(random, {"iqn-1", "iqn-2"}),
                                             .read_only = random.Chance(0.5)};
      break;
    case 3:
      volume.rbd = kube::RbdVolumeSource{{TextOf(random, {"m1", "m2"}), "m3"},
                                         TextOf(random, {"image-1", "image-2"}),
                                         "pool",
                                         random.Chance(0.5)};
      break;
    case 4:
      if (random.Chance(0.2)) {
        volume.ephemeral.emplace();
        break;
      }
      [[fallthrough]];
    default:
      volume.persistent_volume_claim =
          kube::PersistentVolumeClaimVolumeSource{fmt::format("claim-{}", random.Below(4)), false};
  }
  pod.spec.volumes.Mutable().push_back(std::move(volume));
}

void SetRandomVolumeObject(ClusterObjects& objects, Random& random, WallTime now) {
  const auto set = [](auto& cache, auto object) {
    cache.Set(std::make_shared<const decltype(object)>(std::move(object)));
  };
  const uint64_t what = random.Below(20);
  if (what < 6) return set(objects.persistent_volume_claims, RandomClaim(random, now));
  if (what < 11) return set(objects.persistent_volumes, RandomVolume(random));
  if (what < 13) return set(objects.storage_classes, RandomStorageClass(random));
  if (what < 15) return set(objects.csi_nodes, RandomCsiNode(random));
  if (what < 16) return set(objects.csi_storage_capacities, RandomCapacity(random));
  if (what < 18) return set(objects.volume_attachments, RandomAttachment(random));
  kube::CsiDriver driver;
  driver.metadata.name = RandomDriver(random);
  driver.spec.storage_capacity = random.Chance(0.6);
  set(objects.csi_drivers, std::move(driver));
}

}  // namespace koord::scheduler::reference
