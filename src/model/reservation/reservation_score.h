#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kube/objects/resource_list.h"

namespace koord::model {

// How full a reservation becomes with a pod, 0 to 100: the mean over what it reserves; what would
// be too much adds nothing. Read once, asked again whenever more or less of it is used.
class ReservationScorer {
 public:
  // One resource that is reserved, in thousandths.
  struct Part {
    std::string name;
    int64_t asked = 0;
    int64_t capacity = 0;
  };

  ReservationScorer(const kube::ResourceList& pod_requests, const kube::ResourceList& allocatable);

  const std::vector<Part>& parts() const { return parts_; }

  // used(i): what is used of parts()[i], in thousandths.
  template <class Used>
  int64_t Score(Used used) const {
    int64_t sum = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const __int128 wanted = static_cast<__int128>(parts_[i].asked) + used(i);
      if (wanted > parts_[i].capacity) continue;
      sum += static_cast<int64_t>(wanted * 100 / parts_[i].capacity);
    }
    return parts_.empty() ? 0 : sum / static_cast<int64_t>(parts_.size());
  }

 private:
  std::vector<Part> parts_;
};

int64_t ReservationScore(const kube::ResourceList& pod_requests,
                         const kube::ResourceList& allocatable,
                         const kube::ResourceList& allocated);

}  // namespace koord::model
