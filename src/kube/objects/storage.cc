#include "kube/objects/storage.h"

KOORD_DEFINE_CODEC(koord::kube::PersistentVolume);
KOORD_DEFINE_CODEC(koord::kube::PersistentVolumeClaim);
KOORD_DEFINE_CODEC(koord::kube::StorageClass);
KOORD_DEFINE_CODEC(koord::kube::CsiNode);
KOORD_DEFINE_CODEC(koord::kube::CsiDriver);
KOORD_DEFINE_CODEC(koord::kube::CsiStorageCapacity);
KOORD_DEFINE_CODEC(koord::kube::VolumeAttachment);
