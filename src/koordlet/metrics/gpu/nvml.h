#pragma once
#include <memory>
#include <string>

#include "base/clock.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/metrics/gpu/gpu_devices.h"

namespace koord::koordlet {

// NVIDIA's GPUs through its management library, which is loaded while koordlet runs: machines
// without one lack nothing. NotFound: there is no such library; any other error: it does not work.
//
// A device that had a critical error (XID) which is not an application's fault is unhealthy until
// it has been quiet for a while.
StatusOr<std::unique_ptr<GpuDevices>> LoadNvml(const FileTree& sys, const Clock& clock,
                                               const std::string& library = "libnvidia-ml.so.1");

}  // namespace koord::koordlet
