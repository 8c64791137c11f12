#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "localcluster/apiserver/tables/cells.h"
#include "localcluster/apiserver/tables/printer.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr std::string_view kOldClassAnnotation = "volume.beta.kubernetes.io/storage-class";

std::string AccessModesText(const json::array* modes) {
  struct Mode {
    std::string_view name, shown;
  };
  constexpr Mode kModes[] = {{"ReadWriteOnce", "RWO"},
                             {"ReadOnlyMany", "ROX"},
                             {"ReadWriteMany", "RWX"},
                             {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string_view> texts;
  for (const Mode& mode : kModes) {
    const bool has = modes != nullptr && std::any_of(modes->begin(), modes->end(), [&](auto& m) {
                       return kube::FindString(m, {}) == mode.name;
                     });
    if (has) texts.push_back(mode.shown);
  }
  return Join(texts, ",");
}

std::string_view VolumePhase(const Row& row) {
  return row.deleting() ? "Terminating" : row.Get({"status", "phase"});
}

std::string_view StorageClassName(const Row& row) {
  const std::string_view old = row.Get({"metadata", "annotations", kOldClassAnnotation});
  return old.empty() ? row.Get({"spec", "storageClassName"}) : old;
}

constexpr Column kVolumeColumns[] = {
    kNameColumn, {"Capacity"}, {"Access Modes"},  {"Reclaim Policy"},
    {"Status"},  {"Claim"},    {"StorageClass"},  {"VolumeAttributesClass"},
    {"Reason"},  kAgeColumn,   Wide("VolumeMode")};

std::string ClaimText(const Row& row) {
  const std::string_view name = row.Get({"spec", "claimRef", "name"});
  if (name.empty()) return {};
  return fmt::format("{}/{}", row.Get({"spec", "claimRef", "namespace"}), name);
}

void PrintVolume(Row& row) {
  row.Name().Text(ScalarText(kube::Find(row.object, {"spec", "capacity", "storage"})));
  row.Text(AccessModesText(kube::FindArray(row.object, {"spec", "accessModes"})));
  row.TextAt({"spec", "persistentVolumeReclaimPolicy"}).Text(VolumePhase(row));
  row.Text(ClaimText(row)).Text(StorageClassName(row));
  row.TextAt({"spec", "volumeAttributesClassName"}, kUnset).TextAt({"status", "reason"}).Age();
  row.TextAt({"spec", "volumeMode"}, kUnset);
}

constexpr Column kVolumeClaimColumns[] = {kNameColumn,
                                          {"Status"},
                                          {"Volume"},
                                          {"Capacity"},
                                          {"Access Modes"},
                                          {"StorageClass"},
                                          {"VolumeAttributesClass"},
                                          kAgeColumn,
                                          Wide("VolumeMode")};

void PrintClaim(Row& row) {
  const bool bound = !row.Get({"spec", "volumeName"}).empty();
  row.Name().Text(VolumePhase(row)).TextAt({"spec", "volumeName"});
  row.Text(bound ? ScalarText(kube::Find(row.object, {"status", "capacity", "storage"})) : "");
  row.Text(bound ? AccessModesText(kube::FindArray(row.object, {"status", "accessModes"})) : "");
  row.Text(StorageClassName(row)).TextAt({"spec", "volumeAttributesClassName"}, kUnset).Age();
  row.TextAt({"spec", "volumeMode"}, kUnset);
}

constexpr Column kClassColumns[] = {kNameColumn,
                                    {"Provisioner"},
                                    {"ReclaimPolicy"},
                                    {"VolumeBindingMode"},
                                    Flag("AllowVolumeExpansion"),
                                    kAgeColumn};

void PrintStorageClass(Row& row) {
  const bool is_default =
      row.Get({"metadata", "annotations", "storageclass.kubernetes.io/is-default-class"}) ==
          "true" ||
      row.Get({"metadata", "annotations", "storageclass.beta.kubernetes.io/is-default-class"}) ==
          "true";
  row.Text(fmt::format("{}{}", row.Get({"metadata", "name"}), is_default ? " (default)" : ""));
  row.TextAt({"provisioner"}).TextAt({"reclaimPolicy"}, "Delete");
  row.TextAt({"volumeBindingMode"}, "Immediate").BoolAt({"allowVolumeExpansion"}).Age();
}

constexpr Column kCsiNodeColumns[] = {kNameColumn, Number("Drivers"), kAgeColumn};

void PrintCsiNode(Row& row) {
  row.Name();
  row.Int(static_cast<int64_t>(SizeOf(kube::FindArray(row.object, {"spec", "drivers"})))).Age();
}

constexpr Column kCsiDriverColumns[] = {kNameColumn,
                                        Flag("AttachRequired"),
                                        Flag("PodInfoOnMount"),
                                        Flag("StorageCapacity"),
                                        {"TokenRequests"},
                                        Flag("RequiresRepublish"),
                                        {"Modes"},
                                        kAgeColumn};

void PrintCsiDriver(Row& row) {
  const auto* tokens = kube::FindArray(row.object, {"spec", "tokenRequests"});
  row.Name().BoolAt({"spec", "attachRequired"}, true).BoolAt({"spec", "podInfoOnMount"});
  row.BoolAt({"spec", "storageCapacity"});
  row.Text(tokens == nullptr ? std::string(kUnset) : JoinField(tokens, "audience"));
  row.BoolAt({"spec", "requiresRepublish"});
  row.Text(JoinStrings(kube::FindArray(row.object, {"spec", "volumeLifecycleModes"})), kNone);
  row.Age();
}

constexpr Column kCapacityColumns[] = {kNameColumn, {"StorageClassName"}, {"Capacity"}};

void PrintCsiStorageCapacity(Row& row) {
  row.Name().TextAt({"storageClassName"}).Text(ScalarText(kube::Find(row.object, {"capacity"})));
}

constexpr Column kAttachmentColumns[] = {kNameColumn, {"Attacher"},     {"PV"},
                                         {"Node"},    Flag("Attached"), kAgeColumn};

void PrintVolumeAttachment(Row& row) {
  row.Name().TextAt({"spec", "attacher"});
  row.TextAt({"spec", "source", "persistentVolumeName"}).TextAt({"spec", "nodeName"});
  row.BoolAt({"status", "attached"}).Age();
}

constexpr Printer kStoragePrinters[] = {
    {"", "PersistentVolume", kVolumeColumns, PrintVolume},
    {"", "PersistentVolumeClaim", kVolumeClaimColumns, PrintClaim},
    {"storage.k8s.io", "StorageClass", kClassColumns, PrintStorageClass},
    {"storage.k8s.io", "CSINode", kCsiNodeColumns, PrintCsiNode},
    {"storage.k8s.io", "CSIDriver", kCsiDriverColumns, PrintCsiDriver},
    {"storage.k8s.io", "CSIStorageCapacity", kCapacityColumns, PrintCsiStorageCapacity},
    {"storage.k8s.io", "VolumeAttachment", kAttachmentColumns, PrintVolumeAttachment},
};

}  // namespace

std::span<const Printer> StoragePrinters() { return kStoragePrinters; }

}  // namespace koord::apiserver
