#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// Remembers which pods without node are promised room on which node: preemption is making it for
// them, or somebody outside said so in status.nominatedNodeName.
//
// A promise ends when the pod is assumed or deleted, or when it is taken back. One that was made
// here and has not reached the API server yet survives updates of the pod that do not know of it.
//
// Calls that say so return whether a promise of the pod moved or ended: then pods of at most its
// priority may fit where it was.
class Nominator {
 public:
  using PodPtr = std::shared_ptr<const kube::Pod>;
  // Whether the pod exists still and has no node: others are promised nothing.
  using IsPending = std::function<bool(const kube::Pod&)>;
  using NodeChanged = std::function<void(std::string_view node)>;

  explicit Nominator(IsPending is_pending, NodeChanged changed = {})
      : is_pending_(std::move(is_pending)), changed_(std::move(changed)) {}

  // As its status says; without a word there nothing is promised.
  bool Add(PodPtr pod);
  // As it was decided here, whatever the status says; "" promises nothing.
  bool Nominate(PodPtr pod, std::string_view node);
  bool Update(const kube::Pod& before, PodPtr after);
  bool Remove(std::string_view uid);

  // The node that a pod is promised; "" if none.
  std::string_view NodeOf(std::string_view uid) const;
  // The pods that are promised a node, in the order of the promises.
  std::span<const PodPtr> On(std::string_view node) const;
  // Moves whenever On(node) changes; 0 while it is empty.
  uint64_t Version(std::string_view node) const;
  size_t size() const { return node_of_.size(); }

 private:
  struct Promises {
    std::vector<PodPtr> pods;
    uint64_t version = 0;
  };
  void Put(PodPtr pod, std::string_view node);
  void Replace(PodPtr pod, std::string_view node);
  void TakeBack(std::string_view uid, const std::string& node);
  void Tell(std::string_view node);

  IsPending is_pending_;
  NodeChanged changed_;
  StringMap<std::string> node_of_;  // by uid
  StringMap<Promises> nodes_;       // those with promises
  uint64_t version_ = 0;
};

}  // namespace koord::scheduler
