#pragma once
#include "kube/codec.h"
#include "kube/objects/pod.h"

namespace koord::koordlet {

// What is kept of a pod that the API server tells of: what koordlet uses. Of one that has ended
// just that: they pile up until somebody deletes them.
struct KeptPod : kube::Pod {};

}  // namespace koord::koordlet

template <>
struct koord::kube::Codec<koord::koordlet::KeptPod> {
  static Status Read(JsonView in, koord::koordlet::KeptPod& out);
};
