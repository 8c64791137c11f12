// Rules about the volumes of pods.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scheduler/reference/matching.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {
namespace {

using Claim = kube::PersistentVolumeClaim;
using PersistentVolume = kube::PersistentVolume;

struct ClaimUse {
  kube::ObjectKey key;
  bool ephemeral = false;
};

std::vector<ClaimUse> ClaimsOf(const PlainPod& pod) {
  std::vector<ClaimUse> claims;
  for (const kube::Volume& volume : pod.spec().volumes) {
    if (volume.persistent_volume_claim) {
      claims.push_back({{pod.meta().ns, volume.persistent_volume_claim->claim_name}, false});
    } else if (volume.ephemeral) {
      claims.push_back({{pod.meta().ns, fmt::format("{}-{}", pod.meta().name, volume.name)}, true});
    }
  }
  return claims;
}

bool IsBound(const Claim& claim) {
  return !claim.spec.volume_name.empty() &&
         claim.metadata.annotations.contains("pv.kubernetes.io/bind-completed");
}

const kube::StorageClass* ClassOf(const Claim& claim, const ClusterObjects& objects) {
  return objects.storage_classes.Find(claim.spec.storage_class_name.value_or(""));
}

class VolumeRestrictions final : public Rule {
 public:
  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    for (const PlainPod* other : view.PodsOn(node)) {
      for (const kube::Volume& used : other->spec().volumes) {
        for (const kube::Volume& wanted : pod.spec().volumes) {
          if (Conflict(wanted, used))
            return Verdict::Unschedulable("node(s) had no available disk");
        }
      }
    }
    for (const ClaimUse& wanted : ClaimsOf(pod)) {
      const Claim* claim = view.cluster.objects.persistent_volume_claims.Find(wanted.key);
      if (claim == nullptr ||
          std::ranges::count(claim->spec.access_modes, "ReadWriteOncePod") == 0) {
        continue;
      }
      bool used = false;
      for (const auto& [name, others] : view.pods_on) used = used || UsedBy(others, wanted.key);
      if (!used) continue;
      return Verdict::Unschedulable(
          "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
          "already in-use by another pod");
    }
    return {};
  }

 private:
  static bool UsedBy(const std::vector<const PlainPod*>& pods, const kube::ObjectKey& claim) {
    return std::ranges::any_of(pods, [&](const PlainPod* pod) {
      return std::ranges::count(ClaimsOf(*pod), claim, &ClaimUse::key) > 0;
    });
  }

  static bool Conflict(const kube::Volume& a, const kube::Volume& b) {
    if (a.gce_persistent_disk && b.gce_persistent_disk) {
      const auto& x = *a.gce_persistent_disk;
      const auto& y = *b.gce_persistent_disk;
      return x.pd_name == y.pd_name && !(x.read_only && y.read_only);
    }
    if (a.aws_elastic_block_store && b.aws_elastic_block_store) {
      return a.aws_elastic_block_store->volume_id == b.aws_elastic_block_store->volume_id;
    }
    if (a.iscsi && b.iscsi) {
      return a.iscsi->iqn == b.iscsi->iqn && !(a.iscsi->read_only && b.iscsi->read_only);
    }
    if (a.rbd && b.rbd) {
      const bool overlap = std::ranges::any_of(a.rbd->monitors, [&](const std::string& monitor) {
        return std::ranges::count(b.rbd->monitors, monitor) > 0;
      });
      return overlap && a.rbd->pool == b.rbd->pool && a.rbd->image == b.rbd->image &&
             !(a.rbd->read_only && b.rbd->read_only);
    }
    return false;
  }
};

class NodeVolumeLimits final : public Rule {
 public:
  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    const ClusterObjects& objects = view.cluster.objects;
    const kube::CsiNode* limits = objects.csi_nodes.Find(node.name());
    if (limits == nullptr) return {};
    Volumes attached;
    for (const PlainPod* other : view.PodsOn(node)) AddVolumes(objects, *other, attached);
    for (const auto& [key, attachment] : objects.volume_attachments.objects()) {
      if (attachment->spec.node_name != node.name()) continue;
      const PersistentVolume* volume =
          objects.persistent_volumes.Find(attachment->spec.source.persistent_volume_name);
      if (volume != nullptr && volume->spec.csi) {
        attached.insert({attachment->spec.attacher, volume->spec.csi->volume_handle});
      }
    }
    Volumes own;
    AddVolumes(objects, pod, own);
    for (const kube::CsiNodeDriver& driver : limits->spec.drivers) {
      if (!driver.allocatable || !driver.allocatable->count) continue;
      const auto of_driver = [&](const auto& volume) { return volume.first == driver.name; };
      int64_t fresh = 0;
      for (const auto& volume : own) fresh += of_driver(volume) && !attached.contains(volume);
      if (fresh > 0 &&
          std::ranges::count_if(attached, of_driver) + fresh > *driver.allocatable->count) {
        return Verdict::Unschedulable("node(s) exceed max volume count");
      }
    }
    return {};
  }

 private:
  using Volumes = std::set<std::pair<std::string, std::string>>;  // driver, handle

  static void AddVolumes(const ClusterObjects& objects, const PlainPod& pod, Volumes& volumes) {
    for (const ClaimUse& use : ClaimsOf(pod)) {
      const Claim* claim = objects.persistent_volume_claims.Find(use.key);
      if (claim == nullptr) continue;
      const PersistentVolume* volume = objects.persistent_volumes.Find(claim->spec.volume_name);
      if (volume != nullptr) {
        if (volume->spec.csi) {
          volumes.insert({volume->spec.csi->driver, volume->spec.csi->volume_handle});
        }
      } else if (const kube::StorageClass* from = ClassOf(*claim, objects)) {
        volumes.insert({from->provisioner, "to be made for " + use.key.ToString()});
      }
    }
  }
};

class VolumeBinding final : public Rule {
 public:
  PreFilterAnswer PreFilter(const View& view, const PlainPod& pod) const override {
    const ClusterObjects& objects = view.cluster.objects;
    const std::vector<ClaimUse> uses = ClaimsOf(pod);
    if (uses.empty()) return {Verdict::Skip()};
    for (const ClaimUse& use : uses) {
      const std::string& name = use.key.name;
      const Claim* claim = objects.persistent_volume_claims.Find(use.key);
      std::string why;
      if (claim == nullptr && use.ephemeral) {
        why = fmt::format(
            "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"",
            name);
      } else if (claim == nullptr) {
        why = fmt::format("persistentvolumeclaim \"{}\" not found", name);
      } else if (claim->status.phase == "Lost") {
        why = fmt::format(
            "persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"", name,
            claim->spec.volume_name);
      } else if (claim->metadata.deletion_timestamp) {
        why = fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
      }
      if (!why.empty()) return {Verdict::Unresolvable(why)};
    }
    for (const ClaimUse& use : uses) {
      const Claim& claim = *objects.persistent_volume_claims.Find(use.key);
      if (!IsBound(claim) && !Waits(claim, objects)) {
        return {Verdict::Unresolvable("pod has unbound immediate PersistentVolumeClaims")};
      }
    }
    return {};
  }

  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    const ClusterObjects& objects = view.cluster.objects;
    bool excluded = false;
    bool unbound = false;
    bool no_space = false;
    bool missing = false;
    for (const ClaimUse& use : ClaimsOf(pod)) {
      const Claim& claim = *objects.persistent_volume_claims.Find(use.key);
      if (IsBound(claim)) {
        const PersistentVolume* volume = objects.persistent_volumes.Find(claim.spec.volume_name);
        missing = missing || volume == nullptr;
        excluded = excluded || (volume != nullptr && !CanBeUsedOn(*volume, node));
        continue;
      }
      const std::string* selected =
          kube::FindValue(claim.metadata.annotations, "volume.kubernetes.io/selected-node");
      if (selected != nullptr && *selected != node.name()) {
        unbound = true;
        continue;
      }
      if (selected == nullptr && HasVolumeFor(claim, node, objects)) continue;
      if (!CanProvision(claim, node, objects)) {
        unbound = true;
      } else if (!HasSpace(claim, node, objects)) {
        no_space = true;
      }
    }
    Verdict verdict;
    const auto say = [&](bool holds, const char* reason) {
      if (holds) verdict.reasons.emplace_back(reason);
    };
    say(excluded, "node(s) didn't match PersistentVolume's node affinity");
    say(unbound, "node(s) didn't find available persistent volumes to bind");
    say(no_space, "node(s) did not have enough free storage");
    say(missing, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
    if (!verdict.reasons.empty()) verdict.code = Code::kUnschedulableAndUnresolvable;
    return verdict;
  }

 private:
  static bool Waits(const Claim& claim, const ClusterObjects& objects) {
    const kube::StorageClass* from = ClassOf(claim, objects);
    return from != nullptr && from->volume_binding_mode == "WaitForFirstConsumer" &&
           claim.spec.volume_name.empty();
  }

  static bool CanBeUsedOn(const PersistentVolume& volume, const PlainNode& node) {
    return !volume.spec.node_affinity || !volume.spec.node_affinity->required ||
           MatchesSelector(*volume.spec.node_affinity->required, node);
  }

  static bool HasVolumeFor(const Claim& claim, const PlainNode& node,
                           const ClusterObjects& objects) {
    return std::ranges::any_of(objects.persistent_volumes.objects(), [&](const auto& entry) {
      const PersistentVolume& volume = *entry.second;
      const auto& modes = volume.spec.access_modes;
      return volume.status.phase == "Available" && !volume.spec.claim_ref &&
             volume.spec.storage_class_name == claim.spec.storage_class_name.value_or("") &&
             std::ranges::all_of(
                 claim.spec.access_modes,
                 [&](const std::string& mode) { return std::ranges::count(modes, mode) > 0; }) &&
             (!claim.spec.selector || Matches(*claim.spec.selector, volume.metadata.labels)) &&
             kube::AmountOf(volume.spec.capacity, "storage") >= RequestOf(claim) &&
             CanBeUsedOn(volume, node);
    });
  }

  static kube::Quantity RequestOf(const Claim& claim) {
    return kube::AmountOf(claim.spec.resources.requests, "storage");
  }

  static bool CanProvision(const Claim& claim, const PlainNode& node,
                           const ClusterObjects& objects) {
    const kube::StorageClass* from = ClassOf(claim, objects);
    if (from == nullptr || from->provisioner.empty() ||
        from->provisioner == "kubernetes.io/no-provisioner") {
      return false;
    }
    if (from->allowed_topologies.empty()) return true;
    return std::ranges::any_of(from->allowed_topologies, [&](const auto& term) {
      return std::ranges::all_of(term.match_label_expressions, [&](const auto& each) {
        const std::string* value = kube::FindValue(node.labels(), each.key);
        return value != nullptr && std::ranges::count(each.values, *value) > 0;
      });
    });
  }

  static bool HasSpace(const Claim& claim, const PlainNode& node, const ClusterObjects& objects) {
    const kube::StorageClass& from = *ClassOf(claim, objects);
    const kube::CsiDriver* driver = objects.csi_drivers.Find(from.provisioner);
    if (driver == nullptr || !driver->spec.storage_capacity.value_or(false)) return true;
    const auto& capacities = objects.csi_storage_capacities.objects();
    return std::ranges::any_of(capacities, [&](const auto& entry) {
      const kube::CsiStorageCapacity& capacity = *entry.second;
      const auto& most =
          capacity.maximum_volume_size ? capacity.maximum_volume_size : capacity.capacity;
      return capacity.storage_class_name == from.metadata.name && capacity.node_topology &&
             Matches(*capacity.node_topology, node.labels()) && most && *most >= RequestOf(claim);
    });
  }
};

class VolumeZone final : public Rule {
 public:
  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    static const std::vector<const char*> kKeys{
        "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};
    const bool placed =
        std::ranges::any_of(kKeys, [&](const char* key) { return node.labels().contains(key); });
    if (!placed) return {};
    const ClusterObjects& objects = view.cluster.objects;
    for (const ClaimUse& use : ClaimsOf(pod)) {
      const Claim* claim = objects.persistent_volume_claims.Find(use.key);
      if (claim == nullptr || !IsBound(*claim)) continue;
      const PersistentVolume* volume = objects.persistent_volumes.Find(claim->spec.volume_name);
      if (volume == nullptr) continue;
      for (const char* key : kKeys) {
        const std::string* values = kube::FindValue(volume->metadata.labels, key);
        if (values == nullptr) continue;
        const std::string* value = kube::FindValue(node.labels(), key);
        if (value == nullptr || !Includes(*values, *value)) {
          return Verdict::Unresolvable("node(s) had no available volume zone");
        }
      }
    }
    return {};
  }

 private:
  // "a__b" includes a and b.
  static bool Includes(std::string_view values, std::string_view value) {
    while (true) {
      const size_t end = values.find("__");
      if (values.substr(0, end) == value) return true;
      if (end == std::string_view::npos) return false;
      values.remove_prefix(end + 2);
    }
  }
};

}  // namespace

std::unique_ptr<Rule> VolumeRestrictionsRule() { return std::make_unique<VolumeRestrictions>(); }
std::unique_ptr<Rule> NodeVolumeLimitsRule() { return std::make_unique<NodeVolumeLimits>(); }
std::unique_ptr<Rule> VolumeBindingRule() { return std::make_unique<VolumeBinding>(); }
std::unique_ptr<Rule> VolumeZoneRule() { return std::make_unique<VolumeZone>(); }

}  // namespace koord::scheduler::reference
