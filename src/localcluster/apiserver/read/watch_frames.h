#pragma once
#include <absl/container/flat_hash_map.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/resource_info.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

using Frame = std::shared_ptr<const std::string>;

enum class EventType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
std::string_view ToString(EventType type);

// {"type":"ADDED","object":{...}} and a newline.
void AppendFrame(std::string& text, EventType type, std::string_view object);

// The lines that watchers are sent, made once however many watch. Remembers the latest ones: all
// watchers of a resource are told of a change at about the same time.
class FrameCache {
 public:
  explicit FrameCache(const Core& core) : core_(core) {}

  // `entry` is what the event shows of `change`, in the version of `info`.
  Frame Get(const ResourceInfo& info, const Change& change, EventType type, const Entry& entry);

 private:
  struct Key {
    const ResourceInfo* info;
    Revision revision;
    EventType type;

    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.info, key.revision, key.type);
    }
  };

  void Insert(const Key& key, Frame frame);

  const Core& core_;
  uint64_t registry_generation_ = 0;
  absl::flat_hash_map<Key, Frame> frames_;
  std::deque<Key> order_;
  size_t bytes_ = 0;
};

}  // namespace koord::apiserver
