#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/objects/pod.h"
#include "localcluster/nodes/load_model.h"

namespace koord::localcluster {

// How a pod behaves ("diurnal=high:0.9"); see LoadModels.
inline constexpr const char* kLoadAnnotation = "local.koordinator.sh/load";

struct Usage {
  double cpu = 0;     // cores
  double memory = 0;  // bytes

  Usage& operator+=(const Usage& other) {
    cpu += other.cpu;
    memory += other.memory;
    return *this;
  }
};

// What one pod would use over time: its load model applied to what it asked for (of batch or mid
// resources where it asks for those, a little where it asks for nothing), never more memory than
// its limit. How much CPU it gets is up to its node.
class PodLoad {
 public:
  PodLoad(const kube::Pod& pod, const LoadModels& models, uint64_t seed);

  // Nothing before the pod has started.
  Usage At(WallTime time) const;

 private:
  LoadModels::Ptr model_;
  uint64_t seed_;
  Usage requested_;
  std::optional<double> memory_limit_;
  WallTime start_;
};

// Always the same for the same text.
uint64_t SeedOf(std::string_view text, uint64_t seed);

}  // namespace koord::localcluster
