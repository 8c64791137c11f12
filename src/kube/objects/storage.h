#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/objects/node_affinity.h"
#include "kube/objects/resource_list.h"

namespace koord::kube {

struct CsiPersistentVolumeSource {
  std::string driver;
  std::string volume_handle;
  bool read_only = false;

  static void Fields(auto& self, auto&& field) {
    field("driver", Always(self.driver));
    field("volumeHandle", Always(self.volume_handle));
    field("readOnly", self.read_only);
  }
  bool operator==(const CsiPersistentVolumeSource&) const = default;
};

struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;

  static void Fields(auto& self, auto&& field) { field("required", self.required); }
  bool operator==(const VolumeNodeAffinity&) const = default;
};

struct PersistentVolumeSpec {
  ResourceList capacity;
  std::optional<CsiPersistentVolumeSource> csi;
  std::vector<std::string> access_modes;
  std::optional<ObjectReference> claim_ref;
  std::string reclaim_policy;
  std::string storage_class_name;
  std::string volume_mode;
  std::optional<VolumeNodeAffinity> node_affinity;

  static void Fields(auto& self, auto&& field) {
    field("capacity", self.capacity);
    field("csi", self.csi);
    field("accessModes", self.access_modes);
    field("claimRef", self.claim_ref);
    field("persistentVolumeReclaimPolicy", self.reclaim_policy);
    field("storageClassName", self.storage_class_name);
    field("volumeMode", self.volume_mode);
    field("nodeAffinity", self.node_affinity);
  }
  bool operator==(const PersistentVolumeSpec&) const = default;
};

struct PersistentVolumeStatus {
  std::string phase;  // Pending, Available, Bound, Released, Failed

  static void Fields(auto& self, auto&& field) { field("phase", self.phase); }
  bool operator==(const PersistentVolumeStatus&) const = default;
};

struct PersistentVolume {
  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const PersistentVolume&) const = default;
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  std::optional<LabelSelector> selector;
  ResourceRequirements resources;
  std::string volume_name;
  std::optional<std::string> storage_class_name;  // "" asks for no class, absent for the default
  std::string volume_mode;

  static void Fields(auto& self, auto&& field) {
    field("accessModes", self.access_modes);
    field("selector", self.selector);
    field("resources", self.resources);
    field("volumeName", self.volume_name);
    field("storageClassName", self.storage_class_name);
    field("volumeMode", self.volume_mode);
  }
  bool operator==(const PersistentVolumeClaimSpec&) const = default;
};

struct PersistentVolumeClaimStatus {
  std::string phase;  // Pending, Bound, Lost
  std::vector<std::string> access_modes;
  ResourceList capacity;

  static void Fields(auto& self, auto&& field) {
    field("phase", self.phase);
    field("accessModes", self.access_modes);
    field("capacity", self.capacity);
  }
  bool operator==(const PersistentVolumeClaimStatus&) const = default;
};

struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const PersistentVolumeClaim&) const = default;
};

struct TopologySelectorRequirement {
  std::string key;
  std::vector<std::string> values;

  static void Fields(auto& self, auto&& field) {
    field("key", Always(self.key));
    field("values", Always(self.values));
  }
  bool operator==(const TopologySelectorRequirement&) const = default;
};

struct TopologySelectorTerm {
  std::vector<TopologySelectorRequirement> match_label_expressions;

  static void Fields(auto& self, auto&& field) {
    field("matchLabelExpressions", self.match_label_expressions);
  }
  bool operator==(const TopologySelectorTerm&) const = default;
};

struct StorageClass {
  ObjectMeta metadata;
  std::string provisioner;
  Labels parameters;
  std::string reclaim_policy;
  std::string volume_binding_mode;  // Immediate (also when empty), WaitForFirstConsumer
  std::vector<TopologySelectorTerm> allowed_topologies;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("provisioner", Always(self.provisioner));
    field("parameters", self.parameters);
    field("reclaimPolicy", self.reclaim_policy);
    field("volumeBindingMode", self.volume_binding_mode);
    field("allowedTopologies", self.allowed_topologies);
  }
  bool operator==(const StorageClass&) const = default;
};

struct VolumeNodeResources {
  std::optional<int32_t> count;

  static void Fields(auto& self, auto&& field) { field("count", self.count); }
  bool operator==(const VolumeNodeResources&) const = default;
};

struct CsiNodeDriver {
  std::string name;
  std::string node_id;
  std::vector<std::string> topology_keys;
  std::optional<VolumeNodeResources> allocatable;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("nodeID", Always(self.node_id));
    field("topologyKeys", self.topology_keys);
    field("allocatable", self.allocatable);
  }
  bool operator==(const CsiNodeDriver&) const = default;
};

struct CsiNodeSpec {
  std::vector<CsiNodeDriver> drivers;

  static void Fields(auto& self, auto&& field) { field("drivers", Always(self.drivers)); }
  bool operator==(const CsiNodeSpec&) const = default;
};

struct CsiNode {
  ObjectMeta metadata;
  CsiNodeSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", Always(self.spec));
  }
  bool operator==(const CsiNode&) const = default;
};

struct CsiDriverSpec {
  std::optional<bool> storage_capacity;

  static void Fields(auto& self, auto&& field) { field("storageCapacity", self.storage_capacity); }
  bool operator==(const CsiDriverSpec&) const = default;
};

struct CsiDriver {
  ObjectMeta metadata;
  CsiDriverSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const CsiDriver&) const = default;
};

struct CsiStorageCapacity {
  ObjectMeta metadata;
  std::optional<LabelSelector> node_topology;  // absent: on no node
  std::string storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("nodeTopology", self.node_topology);
    field("storageClassName", Always(self.storage_class_name));
    field("capacity", self.capacity);
    field("maximumVolumeSize", self.maximum_volume_size);
  }
  bool operator==(const CsiStorageCapacity&) const = default;
};

struct VolumeAttachmentSource {
  std::string persistent_volume_name;

  static void Fields(auto& self, auto&& field) {
    field("persistentVolumeName", self.persistent_volume_name);
  }
  bool operator==(const VolumeAttachmentSource&) const = default;
};

struct VolumeAttachmentSpec {
  std::string attacher;
  std::string node_name;
  VolumeAttachmentSource source;

  static void Fields(auto& self, auto&& field) {
    field("attacher", Always(self.attacher));
    field("nodeName", Always(self.node_name));
    field("source", Always(self.source));
  }
  bool operator==(const VolumeAttachmentSpec&) const = default;
};

struct VolumeAttachment {
  ObjectMeta metadata;
  VolumeAttachmentSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const VolumeAttachment&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::PersistentVolume);
KOORD_DECLARE_CODEC(koord::kube::PersistentVolumeClaim);
KOORD_DECLARE_CODEC(koord::kube::StorageClass);
KOORD_DECLARE_CODEC(koord::kube::CsiNode);
KOORD_DECLARE_CODEC(koord::kube::CsiDriver);
KOORD_DECLARE_CODEC(koord::kube::CsiStorageCapacity);
KOORD_DECLARE_CODEC(koord::kube::VolumeAttachment);
