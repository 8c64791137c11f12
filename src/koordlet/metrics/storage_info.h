#pragma once
#include "base/status.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/metrics/node_info.h"

namespace koord::koordlet {

// Disks, partitions, logical volumes and mounts as the kernel lists them, without lsblk, vgs, lvs
// and findmnt. A volume group is known by the volumes of it that are in use.
StatusOr<StorageInfo> ReadStorageInfo(const FileTree& sys, const FileTree& proc);

}  // namespace koord::koordlet
