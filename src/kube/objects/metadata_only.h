#pragma once
#include "kube/codec.h"
#include "kube/objects/meta.h"

namespace koord::kube {

// Any object, reduced to who it is, whom it belongs to and whether it is on its way out.
struct MetadataOnly {
  ObjectMeta metadata;  // without labels and annotations
};

}  // namespace koord::kube

template <>
struct koord::kube::Codec<koord::kube::MetadataOnly> {
  static Status Read(JsonView in, koord::kube::MetadataOnly& out) {
    const std::optional<JsonView> metadata = Find(in, {"metadata"});
    if (!metadata) return InvalidArgument("metadata: expected an object");
    RETURN_IF_ERROR(Codec<ObjectMeta>::Read(*metadata, out.metadata));
    out.metadata.labels.clear();
    out.metadata.annotations.clear();
    return absl::OkStatus();
  }
};
