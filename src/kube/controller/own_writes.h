#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/string_map.h"
#include "kube/controller/informer_set.h"
#include "kube/controller/write.h"

namespace koord::kube {

// Remembers what a controller has written and its informers do not show yet, so that no decision
// rests on the world as it was before: otherwise every write would be made twice.
//
// A write whose effect does not show (the object went as it came, or the answer was lost) is waited
// for only so long. What no informer shows at all is not waited for, nor are deletions of whole
// collections, which say nothing of a single object.
class OwnWrites {
 public:
  // After a lost answer nothing may ever show, and trying again too early does harm only once.
  static constexpr Duration kPatience = std::chrono::seconds(10);
  static constexpr Duration kPatienceIfLost = std::chrono::seconds(1);

  OwnWrites(const Clock& clock, const InformerSet& informers)
      : clock_(clock), informers_(informers) {}

  // What became of a write that was decided about this key.
  void Remember(const std::string& key, const WriteResult& result);
  // How much longer to wait for informers to show all that was written about the key, at most;
  // nothing if they do.
  std::optional<Duration> Wait(const std::string& key);

 private:
  struct Unseen {
    Write::Verb verb;
    const InformerSet::Source* source;
    ObjectKey key;
    std::string uid;               // empty if the answer was lost
    std::string resource_version;  // likewise
    SteadyTime give_up;
  };

  static bool Shows(const Unseen& write);

  const Clock& clock_;
  const InformerSet& informers_;
  StringMap<std::vector<Unseen>> unseen_;
};

}  // namespace koord::kube
