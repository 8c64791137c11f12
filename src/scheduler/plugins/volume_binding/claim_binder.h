#pragma once
#include <absl/container/btree_map.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// What a pod's claims were promised on its node.
struct ClaimBindings {
  struct Bind {
    kube::ObjectKey claim;
    std::string volume;
  };
  std::string node;
  std::vector<Bind> binds;                  // to volumes that exist
  std::vector<kube::ObjectKey> provisions;  // to be made for the node
};

// Tells the API server what was promised and waits until whoever binds claims has done so.
//
// A write that finds its object changed meanwhile fails, and with it the attempt: the next one
// decides on what is true then.
class ClaimBinder {
 public:
  ClaimBinder(const PluginContext& context, Duration timeout);
  ~ClaimBinder();

  // One at a time a pod. `done` runs once unless the pod is cancelled first.
  void Start(const std::string& uid, ClaimBindings bindings, VerdictDone done);
  void Cancel(const std::string& uid);

 private:
  struct Work;

  void Write(const std::shared_ptr<Work>& work);
  void Patch(const std::shared_ptr<Work>& work, const kube::Resource& resource,
             const kube::ObjectKey& key, const kube::Json& patch);
  void LookAtAll();
  void Look(const std::shared_ptr<Work>& work);
  // Whether the claims are bound; an error if they will not be.
  StatusOr<bool> AreBound(const Work& work) const;
  Status CheckNode(const kube::PersistentVolume& volume, const Work& work) const;
  void Finish(const std::shared_ptr<Work>& work, Verdict verdict);

  PluginContext context_;
  Duration timeout_;
  absl::btree_map<std::string, std::shared_ptr<Work>> works_;  // by the pod's uid
};

}  // namespace koord::scheduler
