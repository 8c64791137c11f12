#pragma once
#include "kube/json.h"
#include "kube/objects/node.h"
#include "manager/noderesource/common/node_plan.h"

// From how a node should look to what is written.
namespace koord::manager {

// What of a node is worth a write now.
struct NodeSync {
  bool status = false;  // its resources; labels and annotations go with them
  bool meta = false;    // labels and annotations
};

// Resources are written when one of them differs by more than the threshold, or when it is `due`:
// small differences may wait only so long. A node that does not report its resources is left alone.
NodeSync DecideSync(const kube::Node& node, const NodePlan& plan, double diff_threshold, bool due);

// The smallest merge patch that does it, of the node's status if that is to be written; `{}` if the
// node is as it should be. Where amplification ends, what the kubelet reported is put back.
kube::Json NodePatch(const kube::Node& node, const NodePlan& plan, const NodeSync& sync);

// Whether the patch has to be made of the node's status. What amplifies the status (the webhook)
// only sees those: a ratio that changes would otherwise wait for the kubelet's next report.
bool IsPatchOfStatus(const kube::Json& patch);

}  // namespace koord::manager
