#pragma once
#include <string>

#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/work_queue.h"
#include "localcluster/nodes/machines.h"
#include "localcluster/shared/shared_informers.h"

namespace koord::localcluster {

// The signs of life of all simulated machines: Leases every 10 seconds, spread over time, so that a
// thousand nodes make a steady trickle.
class NodeHeartbeats {
 public:
  // `client` is for these alone: whoever counts what a cluster does can leave them out.
  NodeHeartbeats(kube::Client& client, SharedInformers& informers, Machines& machines,
                 uint64_t seed);

  // A machine that is there from now on, or works again.
  void Begin(const std::string& node);

 private:
  void Renew(const std::string& node, kube::WorkQueue::Finish done);
  Duration Within(Duration span);

  kube::Client& client_;
  SharedInformers& informers_;
  Machines& machines_;
  Random random_;
  kube::WorkQueue renewals_;
  Scope scope_;
};

}  // namespace koord::localcluster
