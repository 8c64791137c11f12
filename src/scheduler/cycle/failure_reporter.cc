#include "scheduler/cycle/failure_reporter.h"

#include <fmt/format.h>

namespace koord::scheduler {

FailureReporter::FailureReporter(ObjectWriters& writers, kube::EventRecorder& recorder)
    : writers_(writers), recorder_(recorder) {}

void FailureReporter::Record(const kube::Pod& pod, std::string type, std::string reason,
                             std::string action, std::string message) {
  recorder_.Record({.regarding = writers_.For(pod).ReferenceTo(pod),
                    .type = std::move(type),
                    .reason = std::move(reason),
                    .action = std::move(action),
                    .message = ShortenNote(std::move(message))});
}

void FailureReporter::Failed(const kube::Pod& pod, const Failure& failure) {
  Record(pod, "Warning", "FailedScheduling", "Scheduling", failure.message);
  writers_.For(pod).ShowFailure(pod, failure);
}

void FailureReporter::SkippedDeleting(const kube::Pod& pod) {
  Record(pod, "Warning", "FailedScheduling", "Scheduling",
         fmt::format("skip schedule deleting pod: {}", writers_.For(pod).NameOf(pod)));
}

void FailureReporter::NotSupported(const kube::Pod& pod, std::string message) {
  Record(pod, "Warning", "NotSupported", "Scheduling", std::move(message));
}

void FailureReporter::Bound(const kube::Pod& pod, std::string_view node) {
  Record(pod, "Normal", "Scheduled", "Binding",
         fmt::format("Successfully assigned {} to {}", writers_.For(pod).NameOf(pod), node));
}

void FailureReporter::Nominate(const kube::Pod& pod, const std::string& node) {
  writers_.For(pod).ShowPromise(pod, node);
}

}  // namespace koord::scheduler
