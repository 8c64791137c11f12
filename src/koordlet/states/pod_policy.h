#pragma once

namespace koord::koordlet {

// How far koordlet believes what pod authors write into labels and annotations.
struct TrustPolicy {
  // Act on everything as it is written, as upstream does. Otherwise what only the scheduler may
  // write is checked against the node, and everything else is kept within the node's policy.
  bool trust_pod_authors = false;
};

}  // namespace koord::koordlet
