#pragma once
#include "kube/codec.h"
#include "kube/objects/workloads.h"

namespace koord::localcluster {

// A ReplicationController, read as the ReplicaSet that it is but for the form of its selector.
struct ReplicationControllerAsSet : kube::ReplicaSet {};

}  // namespace koord::localcluster

template <>
struct koord::kube::Codec<koord::localcluster::ReplicationControllerAsSet> {
  static Status Read(JsonView in, koord::localcluster::ReplicationControllerAsSet& out) {
    Json set = in.Copy();
    if (Json* selector = Find(set, {"spec", "selector"})) {
      *selector = Json{{"matchLabels", *selector}};
    }
    return Codec<ReplicaSet>::Read(set, out);
  }
};
