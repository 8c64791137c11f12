#pragma once
#include <cstdint>
#include <string>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"

namespace koord::apiserver {

// Tells clients which groups, versions and resources there are: one document a level for old
// clients, everything at once for newer ones.
class Discovery {
 public:
  explicit Discovery(Core& core) : core_(core) {}

  // True if the path is one of /api, /apis, /apis/<group> and /api(s)/.../<version>, and answered.
  bool Handle(Request& request);

 private:
  struct Aggregated {
    std::string body;
    std::string etag;
  };

  void RespondAggregated(Request& request, bool core_group, const std::string& version);
  const Aggregated& AggregatedFor(bool core_group, const std::string& version);

  Core& core_;
  uint64_t generation_ = 0;
  std::map<std::pair<bool, std::string>, Aggregated> aggregated_;
};

}  // namespace koord::apiserver
