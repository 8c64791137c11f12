#include "koordlet/qos/framework/cpu_info_cache.h"

#include <utility>

namespace koord::koordlet {

const CpuInfo* CpuInfoCache::Get() {
  const SteadyTime now = clock_.Steady();
  if (!info_ || now - *read_at_ >= kMaxAge) {
    if (auto read = host_.ReadCpuInfo(); read.ok() && !read->processors.empty()) {
      info_ = *std::move(read);
      read_at_ = now;
    }
  }
  return info_ ? &*info_ : nullptr;
}

}  // namespace koord::koordlet
