#pragma once
#include "scheduler/binding/object_writer.h"

namespace koord::scheduler {

// Pods as they are: what becomes of them is in the condition PodScheduled, and in
// status.nominatedNodeName.
class PodWriter final : public ObjectWriter {
 public:
  explicit PodWriter(kube::Client& client) : client_(client) {}

  kube::ObjectReference ReferenceTo(const kube::Pod& pod) const override;
  std::string NameOf(const kube::Pod& pod) const override;
  void PatchMetadata(const kube::Pod& pod, kube::json::object metadata,
                     kube::Client::Done done) override;
  void ShowFailure(const kube::Pod& pod, const Failure& failure) override;
  void ShowPromise(const kube::Pod& pod, const std::string& node) override;

 private:
  kube::Client& client_;
};

}  // namespace koord::scheduler
