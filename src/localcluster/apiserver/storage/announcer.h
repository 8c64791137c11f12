#pragma once
#include <memory>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "base/string_map.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// Tells watchers of changes: each watcher every change of its resource, once, in order, gathered
// into as few calls as possible. Watchers may write, watch and end watches from inside such a call.
class Announcer {
 public:
  explicit Announcer(EventLoop& loop) : loop_(loop) {}

  // Everything up to here has been announced, or is being announced right now.
  Revision announced() const { return announced_; }
  void SetAnnounced(Revision revision) { announced_ = revision; }

  // `missed`: what lies between the watcher's start and announced().
  std::unique_ptr<Store::Subscription> Add(std::string_view resource, Revision after,
                                           std::vector<ChangePtr> missed,
                                           Store::OnChanges on_changes);

  // To be announced once it is durable.
  void Add(std::string_view resource, ChangePtr change);

  // Announces everything up to `durable`, now or at the loop's next turn.
  void Announce(Revision durable);
  void AnnounceSoon(Revision durable);

 private:
  struct Watcher;
  struct Topic;
  class Handle;

  void AnnounceMissed();
  void AnnounceTopic(Topic& topic);
  Topic& FindTopic(std::string_view resource);

  EventLoop& loop_;
  Revision announced_ = 0;
  StringMap<std::shared_ptr<Topic>> topics_;
  std::vector<Topic*> with_changes_;                 // in the order of their first change
  std::vector<std::weak_ptr<Watcher>> with_missed_;  // in the order in which they came
  bool soon_ = false;
  Revision soon_upto_ = 0;
  Scope scope_;
};

}  // namespace koord::apiserver
