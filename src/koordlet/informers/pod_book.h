#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "koordlet/informers/node_pod.h"
#include "koordlet/informers/pod_policy.h"

namespace koord::koordlet {

// Works out all that koordlet wants to know of a pod. A bad annotation counts as absent and is
// reported to `policy`; without a policy its author is trusted.
NodePod MakeNodePod(std::shared_ptr<const kube::Pod> pod, const CgroupLayout& layout,
                    PodPolicy* policy = nullptr, const PodBounds& bounds = {});

// The pods of the node, each worked out once for each version of it.
class PodBook {
 public:
  PodBook(CgroupLayout layout, TrustPolicy trust, metrics::Registry* registry = nullptr);

  // What the node grants. True: that is something else, and pods are to be looked at again.
  bool SetBounds(PodBounds bounds);

  // All pods of the node now. A pod that is the very same object as last time costs nothing; where
  // all are, the answer is the very same, too: whoever follows the pods has nothing to do.
  std::shared_ptr<const NodePods> Update(const std::vector<std::shared_ptr<const kube::Pod>>& pods);
  // The same pods again, after bounds have changed.
  std::shared_ptr<const NodePods> Refresh();

  PodPolicy& policy() { return policy_; }

 private:
  struct Entry {
    std::shared_ptr<const kube::Pod> source;
    NodePod pod;
  };

  const CgroupLayout layout_;
  PodPolicy policy_;
  PodBounds bounds_;
  bool stale_ = false;        // bounds have changed
  StringMap<Entry> entries_;  // by uid
  std::vector<std::shared_ptr<const kube::Pod>> last_;
  std::shared_ptr<const NodePods> answer_;  // for last_; null: there was none yet
};

}  // namespace koord::koordlet
