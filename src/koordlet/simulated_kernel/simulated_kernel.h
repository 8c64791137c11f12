#pragma once
#include "koordlet/host/image_kernel.h"

namespace koord::koordlet {

// A simulated machine has files, and nothing of what only hardware can do.
using SimulatedKernel = ImageKernel;

}  // namespace koord::koordlet
