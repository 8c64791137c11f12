#include "kube/events/event_recorders.h"

namespace koord::kube {

EventRecorder& EventRecorders::For(std::string_view component) {
  std::unique_ptr<EventRecorder>& recorder = recorders_[std::string(component)];
  if (recorder == nullptr) {
    recorder = MakeCoreEventRecorder(
        client_,
        {.component = std::string(component), .host = {}, .seed = seed_ + recorders_.size()});
  }
  return *recorder;
}

}  // namespace koord::kube
