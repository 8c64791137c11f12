#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// Tells users what becomes of their pods, in the words and places that they know: the condition
// PodScheduled, and events of the pod.
class FailureReporter {
 public:
  FailureReporter(kube::Client& client, kube::EventRecorder& recorder);

  struct Failure {
    bool rejected = true;  // or an internal error
    std::string message;
    // The promised node to write; "" clears it; nothing leaves it alone.
    std::optional<std::string> nominated_node = {};
  };
  void Failed(const kube::Pod& pod, const Failure& failure);
  void SkippedDeleting(const kube::Pod& pod);
  void Bound(const kube::Pod& pod, std::string_view node);
  // Writes (or clears, with "") the promised node only.
  void Nominate(const kube::Pod& pod, const std::string& node);

 private:
  void Record(const kube::Pod& pod, std::string type, std::string reason, std::string action,
              std::string message);

  kube::Client& client_;
  kube::EventRecorder& recorder_;
};

// What fits into an event: at most 1024 bytes.
std::string ShortenNote(std::string message);

}  // namespace koord::scheduler
