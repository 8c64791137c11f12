#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/events/event_recorder.h"

namespace koord::kube {

// The voices in which a program's parts tell people what they do, one for each component.
class EventRecorders {
 public:
  EventRecorders(Client& client, uint64_t seed) : client_(client), seed_(seed) {}

  EventRecorder& For(std::string_view component);

 private:
  Client& client_;
  const uint64_t seed_;
  std::map<std::string, std::unique_ptr<EventRecorder>, std::less<>> recorders_;
};

}  // namespace koord::kube
