#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_list.h"
#include "localcluster/nodes/node_shape.h"

namespace koord::localcluster {

// What one simulated machine remembers of the pods it has taken. All of it follows from the API's
// objects and is found again after a restart.
class Machine {
 public:
  Machine(uint32_t number, std::optional<PlannedNode> plan)
      : number_(number), plan_(std::move(plan)) {}

  uint32_t number() const { return number_; }
  // None: somebody else has made the Node.
  const std::optional<PlannedNode>& plan() const { return plan_; }

  // Takes a pod and gives it the lowest free address of `range`; none if it has been taken before
  // or no address is free.
  std::optional<std::string> Take(const kube::Pod& pod, std::string_view range);
  // Remembers a pod that was taken before this program started.
  void Remember(const kube::Pod& pod);
  void Release(const std::string& uid);

  bool Has(const std::string& uid) const { return taken_.contains(uid); }
  size_t pod_count() const { return taken_.size(); }
  const kube::ResourceList& used() const { return used_; }

  bool failed = false;  // as if somebody had pulled the plug

 private:
  struct Taken {
    kube::ResourceList requests;
    std::string address;
  };
  void Add(const kube::Pod& pod, std::string address);

  uint32_t number_;
  std::optional<PlannedNode> plan_;
  std::map<std::string, Taken> taken_;  // by UID
  std::set<std::string> addresses_;
  kube::ResourceList used_;
};

// All machines by the names of their nodes.
class Machines {
 public:
  explicit Machines(const std::vector<PlannedNode>& planned);

  Machine* Find(const std::string& node);
  // A machine for a node that is not one of the planned ones.
  Machine& Adopt(const std::string& node);
  // The node's object is gone: an adopted machine goes with it, a planned one is empty again.
  void Reset(const std::string& node);
  const std::map<std::string, Machine>& all() const { return machines_; }

 private:
  std::map<std::string, Machine> machines_;
  uint32_t next_adopted_ = 1u << 13;  // numbers below are for planned nodes
};

}  // namespace koord::localcluster
