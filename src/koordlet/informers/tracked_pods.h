#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "koordlet/informers/node_state.h"

namespace koord::koordlet {

// What a collector remembers of each pod and container, for as long as they are there: counters,
// open files. Follows the node's pods; between two changes nothing is searched.
template <class Memory>
class TrackedPods {
 public:
  struct Entry {
    const NodePod* pod = nullptr;
    const NodeContainer* container = nullptr;  // null: the pod itself
    Memory memory;

    std::string_view subject() const { return container == nullptr ? pod->uid() : container->id; }
    const CgroupDir& dir() const { return container == nullptr ? pod->dir : container->dir; }
    std::string_view ns() const { return pod->pod->metadata.ns; }
    std::string_view pod_name() const { return pod->pod->metadata.name; }
    // "containerd://..."
    std::string_view full_container_id() const {
      return container->status == nullptr ? container->id : container->status->container_id;
    }
    std::string_view container_name() const {
      return container->status != nullptr ? std::string_view(container->status->name)
             : container->spec != nullptr ? std::string_view(container->spec->name)
                                          : std::string_view();
    }
  };

  // Active pods, each followed by its containers with an id. True: they have changed.
  bool Follow(const NodeState& state) {
    if (pods_ == state.pods()) return false;
    absl::flat_hash_map<std::string_view, Memory> known;
    for (Entry& entry : entries_) known.emplace(entry.dir(), std::move(entry.memory));
    std::vector<Entry> entries;
    const auto add = [&](const NodePod& pod, const NodeContainer* container) {
      Entry entry{&pod, container, Memory()};
      if (const auto it = known.find(entry.dir()); it != known.end()) {
        entry.memory = std::move(it->second);
        known.erase(it);
      }
      entries.push_back(std::move(entry));
    };
    for (const NodePod& pod : *state.pods()) {
      if (!pod.is_active) continue;
      add(pod, nullptr);
      for (const NodeContainer& container : pod.containers) {
        if (!container.id.empty()) add(pod, &container);
      }
    }
    known.clear();  // its keys point into the old pods
    entries_ = std::move(entries);
    pods_ = state.pods();
    return true;
  }

  std::vector<Entry>& entries() { return entries_; }

 private:
  std::shared_ptr<const NodePods> pods_;  // keeps alive what entries point to
  std::vector<Entry> entries_;
};

}  // namespace koord::koordlet
