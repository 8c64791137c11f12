#pragma once
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/controller/write.h"
#include "kube/json.h"
#include "localcluster/informers/cluster_informers.h"

namespace koord::localcluster {

// The example of examples/colocation, brought to life: services with day and night, and batch Jobs
// that are submitted without end.
//
//  - What is there already, for example from an earlier run, stays as it is.
//  - Services come when profiles are in force, so that their pods get their colours; as many as the
//    nodes have room for, in the proportions of the file.
//  - The Jobs are submitted again whenever few pods of earlier ones wait for a node: batch work
//    takes what it is offered, and no more piles up.
class Demo {
 public:
  // Both outlive it.
  Demo(kube::Client& client, ClusterInformers& informers);

  Status Load();
  // Once the nodes are there.
  void Start();

 private:
  using Step = void (Demo::*)();

  void SetUp();
  void AwaitProfiles();
  void StartServices();
  void SubmitJobs();
  size_t WaitingPods() const;
  double RoomFor() const;
  void Again(Step step);
  // Makes what is not there, and goes on with `next`, or tries `again`.
  void Make(const std::vector<kube::Json>& objects, Step next, Step again);

  kube::Client& client_;
  ClusterInformers& informers_;
  std::vector<kube::Json> setup_, services_, jobs_;
  std::string batch_namespace_;
  Timer timer_;
  Scope scope_;
};

}  // namespace koord::localcluster
