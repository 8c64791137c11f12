#include "localcluster/apiserver/read/watch_frames.h"

#include "localcluster/apiserver/core/versions.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxFrames = 4096;
constexpr size_t kMaxBytes = 4 << 20;

}  // namespace

std::string_view ToString(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
    case EventType::kBookmark:
      return "BOOKMARK";
    case EventType::kError:
      return "ERROR";
  }
  return "";
}

void AppendFrame(std::string& text, EventType type, std::string_view object) {
  text.append("{\"type\":\"").append(ToString(type)).append("\",\"object\":");
  text.append(object).append("}\n");
}

Frame FrameCache::Get(const ResourceInfo& info, const Change& change, EventType type,
                      const Entry& entry) {
  // Descriptions of custom resources come and go; their addresses may be used again.
  if (registry_generation_ != core_.registry.generation()) {
    registry_generation_ = core_.registry.generation();
    frames_.clear();
    order_.clear();
    bytes_ = 0;
  }
  const Key key{&info, change.revision, type};
  if (const auto it = frames_.find(key); it != frames_.end()) return it->second;
  std::string scratch;
  const std::string_view object = TextIn(core_, info, entry, scratch);
  std::string text;
  text.reserve(object.size() + 40);
  AppendFrame(text, type, object);
  auto frame = std::make_shared<const std::string>(std::move(text));
  Insert(key, frame);
  return frame;
}

void FrameCache::Insert(const Key& key, Frame frame) {
  bytes_ += frame->size();
  frames_.emplace(key, std::move(frame));
  order_.push_back(key);
  while (order_.size() > kMaxFrames || bytes_ > kMaxBytes) {
    const auto oldest = frames_.find(order_.front());
    bytes_ -= oldest->second->size();
    frames_.erase(oldest);
    order_.pop_front();
  }
}

}  // namespace koord::apiserver
