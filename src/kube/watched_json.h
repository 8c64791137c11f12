#pragma once
#include <boost/json/monotonic_resource.hpp>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// A watch event, in memory that is taken in one piece and goes with it: hence it is shown, and
// never handed out. Leaves metadata.managedFields out: a third of most objects, which those who
// watch them have no use for.
class WatchedJson {
 public:
  explicit WatchedJson(size_t room) : memory_(room) {}
  WatchedJson(const WatchedJson&) = delete;
  WatchedJson& operator=(const WatchedJson&) = delete;

  Status Parse(std::string_view text);  // once
  JsonView view() const { return value_; }

 private:
  json::monotonic_resource memory_;
  Json value_ = Json(json::storage_ptr(&memory_));
};

}  // namespace koord::kube
