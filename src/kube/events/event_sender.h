#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/objects/meta.h"

namespace koord::kube {

// Writes events in the background: several at a time, but never two writes of the same event. What
// the server refuses is dropped; what does not reach it is tried again for about two minutes. At
// most a thousand writes wait, more are dropped.
class EventSender {
 public:
  // The component keeps its names apart from those of others that have the same seed.
  EventSender(Client& client, Resource resource, std::string_view component, uint64_t seed);
  ~EventSender();

  void Create(const ObjectKey& key, Json event);
  // `event` is the whole of it, for when the server has forgotten it.
  void Patch(const ObjectKey& key, Json patch, Json event);

  // A name for an event about an object; no two are the same.
  std::string NameFor(std::string_view object_name);
  // The same in parts, for those who have many to remember: a number of which no two are the same,
  // and the name that it makes; empty where that is none, as of objects with long names.
  int64_t NextStamp();
  static std::string NameAt(std::string_view object_name, int64_t stamp);

 private:
  struct Job;

  void Enqueue(std::unique_ptr<Job> job);
  void StartNext();
  void Write(Job& job);
  void OnAnswer(Job& job, const Status& status);
  void Finish(const Job& job);

  Client& client_;
  const Resource resource_;
  Random random_;
  const int64_t offset_;
  int64_t last_stamp_ = 0;
  std::deque<std::unique_ptr<Job>> waiting_;
  std::map<ObjectKey, std::unique_ptr<Job>> active_;
  Scope scope_;
};

}  // namespace koord::kube
