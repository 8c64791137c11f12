#pragma once
#include <string>
#include <string_view>

#include "kube/events/event_recorder.h"
#include "kube/objects/pod.h"
#include "scheduler/binding/object_writers.h"
#include "scheduler/framework/short_note.h"

namespace koord::scheduler {

// Tells users what becomes of their pods and Reservations, in the words and places that they know:
// conditions, and events.
class FailureReporter {
 public:
  FailureReporter(ObjectWriters& writers, kube::EventRecorder& recorder);

  using Failure = ObjectWriter::Failure;
  void Failed(const kube::Pod& pod, const Failure& failure);
  void SkippedDeleting(const kube::Pod& pod);
  // Tells once what the pod asks for and will not get.
  void NotSupported(const kube::Pod& pod, std::string message);
  void Bound(const kube::Pod& pod, std::string_view node);
  // Writes (or clears, with "") the promised node only.
  void Nominate(const kube::Pod& pod, const std::string& node);

 private:
  void Record(const kube::Pod& pod, std::string type, std::string reason, std::string action,
              std::string message);

  ObjectWriters& writers_;
  kube::EventRecorder& recorder_;
};

}  // namespace koord::scheduler
