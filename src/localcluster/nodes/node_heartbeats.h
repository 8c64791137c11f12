#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "localcluster/informers/cluster_informers.h"
#include "localcluster/nodes/machines.h"

namespace koord::localcluster {

// The signs of life of all simulated machines: Leases every 10 seconds. Some dozens of machines
// renew theirs together, and of many a tenth each second, so that these make a steady trickle and
// the API server still writes few times to its disk. None waits for another: a slow disk makes all
// of them a little late, never some of them very late.
//
// Every five minutes a planned machine also looks whether its Node says what it has, and otherwise
// reports it again, as a kubelet does: webhooks may change what is stored, but not what there is.
class NodeHeartbeats {
 public:
  // `client` is for these alone: whoever counts what a cluster does can leave them out.
  NodeHeartbeats(kube::Client& client, ClusterInformers& informers, Machines& machines,
                 uint64_t seed);

  // A machine that is there from now on, or works again.
  void Begin(const std::string& node);

 private:
  static constexpr int kTurns = 10;
  static constexpr size_t kTogether = 50;  // machines for which more turns are not worth it

  struct Heart {
    bool renewing = false;  // the answer to the last renewal is not there yet
    SteadyTime report_due{0};
  };

  size_t TurnOfNext() const;
  void SetTimer();
  void Beat();
  // False if the node has no machine that works, and is to be forgotten.
  bool Renew(const std::string& node, Heart& heart);
  void CreateLease(const std::string& node);
  void Answered(const std::string& node);
  // At its time, and only where something else is stored.
  void ReportResources(const kube::Node& node, const Machine& machine, Heart& heart);

  kube::Client& client_;
  ClusterInformers& informers_;
  Machines& machines_;
  Random random_;
  std::map<std::string, Heart> hearts_;                 // by node
  std::array<std::vector<std::string>, kTurns> turns_;  // each node once
  size_t turn_ = 0;                                     // the next one
  SteadyTime next_{0};                                  // when that is
  Timer timer_;
  Scope scope_;
};

}  // namespace koord::localcluster
