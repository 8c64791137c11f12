#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const GroupSource kCoreVolumeTypes = {
    .api_version = "v1",
    .openapi_prefix = "io.k8s.api.core.v1.",
    .messages = R"(
AWSElasticBlockStoreVolumeSource: volumeID !, fsType, partition i, readOnly b
AzureDiskVolumeSource: diskName !, diskURI !, cachingMode ?, fsType ?, readOnly b?, kind ?
AzureFileVolumeSource: secretName !, shareName !, readOnly b
CSIVolumeSource: driver !, readOnly b?, fsType ?, volumeAttributes map:s,
  nodePublishSecretRef LocalObjectReference?
CephFSVolumeSource: monitors [s]!, path, user, secretFile, secretRef LocalObjectReference?,
  readOnly b
CinderVolumeSource: volumeID !, fsType, readOnly b, secretRef LocalObjectReference?
ClusterTrustBundleProjection: name ?, signerName ?, labelSelector LabelSelector?, path !,
  optional b?
ConfigMapProjection: localObjectReference^ LocalObjectReference, items [KeyToPath], 4.optional b?
ConfigMapVolumeSource: localObjectReference^ LocalObjectReference, items [KeyToPath],
  defaultMode i?, optional b?
DownwardAPIProjection: items [DownwardAPIVolumeFile]
DownwardAPIVolumeFile: path !, fieldRef ObjectFieldSelector?,
  resourceFieldRef ResourceFieldSelector?, mode i?
DownwardAPIVolumeSource: items [DownwardAPIVolumeFile], defaultMode i?
EmptyDirVolumeSource: medium, sizeLimit Quantity?
EphemeralVolumeSource: volumeClaimTemplate PersistentVolumeClaimTemplate?
FCVolumeSource: targetWWNs [s], lun i?, fsType, readOnly b, wwids [s]
FlexVolumeSource: driver !, fsType, secretRef LocalObjectReference?, readOnly b, options map:s
FlockerVolumeSource: datasetName, datasetUUID
GCEPersistentDiskVolumeSource: pdName !, fsType, partition i, readOnly b
GitRepoVolumeSource: repository !, revision, directory
GlusterfsVolumeSource: endpoints !, path !, readOnly b
HostPathVolumeSource: path !, type ?
ISCSIVolumeSource: targetPortal !, iqn !, lun i!, iscsiInterface, fsType, readOnly b, portals [s],
  chapAuthDiscovery b, 10.secretRef LocalObjectReference?, chapAuthSession b, initiatorName ?
ImageVolumeSource: reference, pullPolicy
KeyToPath: key !, path !, mode i?
NFSVolumeSource: server !, path !, readOnly b
PersistentVolumeClaimVolumeSource: claimName !, readOnly b
PhotonPersistentDiskVolumeSource: pdID !, fsType
PodCertificateProjection: signerName !, keyType !, maxExpirationSeconds i?, credentialBundlePath,
  keyPath, certificateChainPath, userAnnotations map:s
PortworxVolumeSource: volumeID !, fsType, readOnly b
ProjectedVolumeSource: sources [VolumeProjection], defaultMode i?
QuobyteVolumeSource: registry !, volume !, readOnly b, user, group, tenant
RBDVolumeSource: monitors [s]!, image !, fsType, pool, user, keyring,
  secretRef LocalObjectReference?, readOnly b
ScaleIOVolumeSource: gateway !, system !, secretRef LocalObjectReference?!, sslEnabled b,
  protectionDomain, storagePool, storageMode, volumeName, fsType, readOnly b
SecretProjection: localObjectReference^ LocalObjectReference, items [KeyToPath], 4.optional b?
SecretVolumeSource: secretName, items [KeyToPath], defaultMode i?, optional b?
ServiceAccountTokenProjection: audience, expirationSeconds i?, path !
StorageOSVolumeSource: volumeName, volumeNamespace, fsType, readOnly b,
  secretRef LocalObjectReference?
Volume: name !, volumeSource^ VolumeSource
VolumeProjection: secret SecretProjection?, downwardAPI DownwardAPIProjection?,
  configMap ConfigMapProjection?, serviceAccountToken ServiceAccountTokenProjection?,
  clusterTrustBundle ClusterTrustBundleProjection?, podCertificate PodCertificateProjection?
VolumeSource: hostPath HostPathVolumeSource?, emptyDir EmptyDirVolumeSource?,
  gcePersistentDisk GCEPersistentDiskVolumeSource?,
  awsElasticBlockStore AWSElasticBlockStoreVolumeSource?, gitRepo GitRepoVolumeSource?,
  secret SecretVolumeSource?, nfs NFSVolumeSource?, iscsi ISCSIVolumeSource?,
  glusterfs GlusterfsVolumeSource?, persistentVolumeClaim PersistentVolumeClaimVolumeSource?,
  rbd RBDVolumeSource?, flexVolume FlexVolumeSource?, cinder CinderVolumeSource?,
  cephfs CephFSVolumeSource?, flocker FlockerVolumeSource?, downwardAPI DownwardAPIVolumeSource?,
  fc FCVolumeSource?, azureFile AzureFileVolumeSource?, configMap ConfigMapVolumeSource?,
  vsphereVolume VsphereVirtualDiskVolumeSource?, quobyte QuobyteVolumeSource?,
  azureDisk AzureDiskVolumeSource?, photonPersistentDisk PhotonPersistentDiskVolumeSource?,
  portworxVolume PortworxVolumeSource?, scaleIO ScaleIOVolumeSource?,
  projected ProjectedVolumeSource?, storageos StorageOSVolumeSource?, csi CSIVolumeSource?,
  ephemeral EphemeralVolumeSource?, image ImageVolumeSource?
VsphereVirtualDiskVolumeSource: volumePath !, fsType, storagePolicyName, storagePolicyID
)",
    .json_messages = R"(
AzureFilePersistentVolumeSource: secretName !, shareName !, readOnly b, secretNamespace ?
CSIPersistentVolumeSource: driver !, volumeHandle !, readOnly b, fsType, volumeAttributes map:s,
  controllerPublishSecretRef SecretReference?, nodeStageSecretRef SecretReference?,
  nodePublishSecretRef SecretReference?, controllerExpandSecretRef SecretReference?,
  nodeExpandSecretRef SecretReference?
CephFSPersistentVolumeSource: monitors [s]!, path, user, secretFile, secretRef SecretReference?,
  readOnly b
CinderPersistentVolumeSource: volumeID !, fsType, readOnly b, secretRef SecretReference?
FlexPersistentVolumeSource: driver !, fsType, secretRef SecretReference?, readOnly b,
  options map:s
GlusterfsPersistentVolumeSource: endpoints !, path !, readOnly b, endpointsNamespace ?
ISCSIPersistentVolumeSource: targetPortal !, iqn !, lun i!, iscsiInterface, fsType, readOnly b,
  portals [s], chapAuthDiscovery b, chapAuthSession b, secretRef SecretReference?,
  initiatorName ?
LocalVolumeSource: path !, fsType ?
kind PersistentVolume: metadata ObjectMeta, spec PersistentVolumeSpec,
  status PersistentVolumeStatus
PersistentVolumeSpec: capacity map:Quantity, accessModes [s], claimRef ObjectReference?,
  persistentVolumeReclaimPolicy, storageClassName, mountOptions [s], volumeMode ?,
  nodeAffinity VolumeNodeAffinity?, volumeAttributesClassName ?,
  gcePersistentDisk GCEPersistentDiskVolumeSource?,
  awsElasticBlockStore AWSElasticBlockStoreVolumeSource?, hostPath HostPathVolumeSource?,
  glusterfs GlusterfsPersistentVolumeSource?, nfs NFSVolumeSource?,
  rbd RBDPersistentVolumeSource?, iscsi ISCSIPersistentVolumeSource?,
  cinder CinderPersistentVolumeSource?, cephfs CephFSPersistentVolumeSource?,
  fc FCVolumeSource?, flocker FlockerVolumeSource?, flexVolume FlexPersistentVolumeSource?,
  azureFile AzureFilePersistentVolumeSource?, vsphereVolume VsphereVirtualDiskVolumeSource?,
  quobyte QuobyteVolumeSource?, azureDisk AzureDiskVolumeSource?,
  photonPersistentDisk PhotonPersistentDiskVolumeSource?,
  portworxVolume PortworxVolumeSource?, scaleIO ScaleIOPersistentVolumeSource?,
  local LocalVolumeSource?, storageos StorageOSPersistentVolumeSource?,
  csi CSIPersistentVolumeSource?
PersistentVolumeStatus: phase, message, reason, lastPhaseTransitionTime Time?
RBDPersistentVolumeSource: monitors [s]!, image !, fsType, pool, user, keyring,
  secretRef SecretReference?, readOnly b
ScaleIOPersistentVolumeSource: gateway !, system !, secretRef SecretReference?!, sslEnabled b,
  protectionDomain, storagePool, storageMode, volumeName, fsType, readOnly b
atomic SecretReference: name, namespace
StorageOSPersistentVolumeSource: volumeName, volumeNamespace, fsType, readOnly b,
  secretRef ObjectReference?
VolumeNodeAffinity: required NodeSelector?
)",
};

}  // namespace koord::kube::schema
