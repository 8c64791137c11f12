#pragma once
#include "kube/codec.h"
#include "kube/objects/meta.h"

namespace koord::localcluster {

// Any object, reduced to who it is, whom it belongs to and whether it is on its way out.
struct MetadataOnly {
  kube::ObjectMeta metadata;  // without labels and annotations
};

}  // namespace koord::localcluster

template <>
struct koord::kube::Codec<koord::localcluster::MetadataOnly> {
  static Status Read(const Json& in, koord::localcluster::MetadataOnly& out) {
    const Json* metadata = Find(in, {"metadata"});
    if (metadata == nullptr) return InvalidArgument("metadata: expected an object");
    RETURN_IF_ERROR(Codec<ObjectMeta>::Read(*metadata, out.metadata));
    out.metadata.labels.clear();
    out.metadata.annotations.clear();
    return absl::OkStatus();
  }
};
