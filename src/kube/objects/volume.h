#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/boxed.h"
#include "kube/codec.h"
#include "kube/quantity.h"

// The volumes of a pod, as far as they decide where it can run and whether it can be moved.
namespace koord::kube {

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
  bool read_only = false;

  static void Fields(auto& self, auto&& field) {
    field("claimName", Always(self.claim_name));
    field("readOnly", self.read_only);
  }
  bool operator==(const PersistentVolumeClaimVolumeSource&) const = default;
};

// A claim named <pod>-<volume> that lives and dies with the pod.
struct EphemeralVolumeSource {
  Json volume_claim_template;

  static void Fields(auto& self, auto&& field) {
    field("volumeClaimTemplate", self.volume_claim_template);
  }
  bool operator==(const EphemeralVolumeSource&) const = default;
};

struct CsiVolumeSource {
  std::string driver;
  std::optional<bool> read_only;

  static void Fields(auto& self, auto&& field) {
    field("driver", Always(self.driver));
    field("readOnly", self.read_only);
  }
  bool operator==(const CsiVolumeSource&) const = default;
};

struct EmptyDirVolumeSource {
  std::string medium;
  std::optional<Quantity> size_limit;

  static void Fields(auto& self, auto&& field) {
    field("medium", self.medium);
    field("sizeLimit", self.size_limit);
  }
  bool operator==(const EmptyDirVolumeSource&) const = default;
};

struct HostPathVolumeSource {
  std::string path;
  std::string type;

  static void Fields(auto& self, auto&& field) {
    field("path", Always(self.path));
    field("type", self.type);
  }
  bool operator==(const HostPathVolumeSource&) const = default;
};

struct ConfigMapVolumeSource {
  std::string name;

  static void Fields(auto& self, auto&& field) { field("name", self.name); }
  bool operator==(const ConfigMapVolumeSource&) const = default;
};

struct SecretVolumeSource {
  std::string secret_name;

  static void Fields(auto& self, auto&& field) { field("secretName", self.secret_name); }
  bool operator==(const SecretVolumeSource&) const = default;
};

struct GcePersistentDiskVolumeSource {
  std::string pd_name;
  bool read_only = false;

  static void Fields(auto& self, auto&& field) {
    field("pdName", Always(self.pd_name));
    field("readOnly", self.read_only);
  }
  bool operator==(const GcePersistentDiskVolumeSource&) const = default;
};

struct AwsElasticBlockStoreVolumeSource {
  std::string volume_id;
  bool read_only = false;

  static void Fields(auto& self, auto&& field) {
    field("volumeID", Always(self.volume_id));
    field("readOnly", self.read_only);
  }
  bool operator==(const AwsElasticBlockStoreVolumeSource&) const = default;
};

struct IscsiVolumeSource {
  std::string target_portal;
  std::string iqn;
  int32_t lun = 0;
  bool read_only = false;

  static void Fields(auto& self, auto&& field) {
    field("targetPortal", Always(self.target_portal));
    field("iqn", Always(self.iqn));
    field("lun", Always(self.lun));
    field("readOnly", self.read_only);
  }
  bool operator==(const IscsiVolumeSource&) const = default;
};

struct RbdVolumeSource {
  std::vector<std::string> monitors;
  std::string image;
  std::string pool;
  bool read_only = false;

  static void Fields(auto& self, auto&& field) {
    field("monitors", Always(self.monitors));
    field("image", Always(self.image));
    field("pool", self.pool);
    field("readOnly", self.read_only);
  }
  bool operator==(const RbdVolumeSource&) const = default;
};

// At most one source is set; none where the source is of a kind that we never look at.
struct Volume {
  std::string name;
  Boxed<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  Boxed<EphemeralVolumeSource> ephemeral;
  Boxed<CsiVolumeSource> csi;
  Boxed<EmptyDirVolumeSource> empty_dir;
  Boxed<HostPathVolumeSource> host_path;
  Boxed<ConfigMapVolumeSource> config_map;
  Boxed<SecretVolumeSource> secret;
  Boxed<GcePersistentDiskVolumeSource> gce_persistent_disk;
  Boxed<AwsElasticBlockStoreVolumeSource> aws_elastic_block_store;
  Boxed<IscsiVolumeSource> iscsi;
  Boxed<RbdVolumeSource> rbd;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("persistentVolumeClaim", self.persistent_volume_claim);
    field("ephemeral", self.ephemeral);
    field("csi", self.csi);
    field("emptyDir", self.empty_dir);
    field("hostPath", self.host_path);
    field("configMap", self.config_map);
    field("secret", self.secret);
    field("gcePersistentDisk", self.gce_persistent_disk);
    field("awsElasticBlockStore", self.aws_elastic_block_store);
    field("iscsi", self.iscsi);
    field("rbd", self.rbd);
  }
  bool operator==(const Volume&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Volume);
