#include "localcluster/apiserver/storage/announcer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace koord::apiserver {

struct Announcer::Watcher {
  Revision after = 0;
  std::vector<ChangePtr> missed;
  Store::OnChanges on_changes;
  bool ended = false;
};

// One resource's watchers and what they are still to hear.
struct Announcer::Topic {
  std::vector<ChangePtr> changes;
  std::vector<std::shared_ptr<Watcher>> watchers;

  void Remove(const Watcher* watcher) {
    std::erase_if(watchers, [&](const auto& other) { return other.get() == watcher; });
  }
};

class Announcer::Handle final : public Store::Subscription {
 public:
  Handle(std::weak_ptr<Topic> topic, std::shared_ptr<Watcher> watcher)
      : topic_(std::move(topic)), watcher_(std::move(watcher)) {}
  ~Handle() override {
    watcher_->ended = true;
    if (const auto topic = topic_.lock()) topic->Remove(watcher_.get());
  }

 private:
  std::weak_ptr<Topic> topic_;
  std::shared_ptr<Watcher> watcher_;
};

std::unique_ptr<Store::Subscription> Announcer::Add(std::string_view resource, Revision after,
                                                    std::vector<ChangePtr> missed,
                                                    Store::OnChanges on_changes) {
  auto watcher = std::make_shared<Watcher>();
  // What is being announced right now is in `missed` already.
  watcher->after = std::max(after, announced_);
  watcher->missed = std::move(missed);
  watcher->on_changes = std::move(on_changes);
  if (!watcher->missed.empty()) {
    with_missed_.push_back(watcher);
    AnnounceSoon(announced_);
  }
  FindTopic(resource).watchers.push_back(watcher);
  return std::make_unique<Handle>(topics_.find(resource)->second, std::move(watcher));
}

void Announcer::Add(std::string_view resource, ChangePtr change) {
  Topic& topic = FindTopic(resource);
  if (topic.changes.empty()) with_changes_.push_back(&topic);
  topic.changes.push_back(std::move(change));
}

void Announcer::AnnounceSoon(Revision durable) {
  soon_upto_ = std::max(soon_upto_, durable);
  if (std::exchange(soon_, true)) return;
  loop_.Post(scope_.Wrap([this] {
    soon_ = false;
    Announce(soon_upto_);
  }));
}

void Announcer::Announce(Revision durable) {
  AnnounceMissed();
  // From here on a new watcher takes what is in flight from history, not from this round.
  announced_ = std::max(announced_, durable);
  for (Topic* topic : std::exchange(with_changes_, {})) AnnounceTopic(*topic);
}

void Announcer::AnnounceMissed() {
  for (const auto& weak : std::exchange(with_missed_, {})) {
    const std::shared_ptr<Watcher> watcher = weak.lock();
    if (watcher == nullptr || watcher->ended) continue;
    const std::vector<ChangePtr> missed = std::exchange(watcher->missed, {});
    watcher->on_changes(missed);
  }
}

void Announcer::AnnounceTopic(Topic& topic) {
  const auto first_waiting =
      std::partition_point(topic.changes.begin(), topic.changes.end(),
                           [&](const ChangePtr& c) { return c->revision <= announced_; });
  std::vector<ChangePtr> ready(std::make_move_iterator(topic.changes.begin()),
                               std::make_move_iterator(first_waiting));
  topic.changes.erase(topic.changes.begin(), first_waiting);
  if (!topic.changes.empty()) with_changes_.push_back(&topic);
  if (ready.empty()) return;

  const auto watchers = topic.watchers;  // calls may add and remove some
  for (const auto& watcher : watchers) {
    if (watcher->ended) continue;
    const auto first = std::partition_point(
        ready.begin(), ready.end(),
        [&](const ChangePtr& change) { return change->revision <= watcher->after; });
    if (first == ready.end()) continue;
    if (!watcher->missed.empty()) {  // came during this round: keeps its order
      watcher->missed.insert(watcher->missed.end(), first, ready.end());
    } else {
      watcher->on_changes(std::span<const ChangePtr>(first, ready.end()));
    }
  }
}

Announcer::Topic& Announcer::FindTopic(std::string_view resource) {
  const auto it = topics_.find(resource);
  if (it != topics_.end()) return *it->second;
  return *topics_.emplace(std::string(resource), std::make_shared<Topic>()).first->second;
}

}  // namespace koord::apiserver
