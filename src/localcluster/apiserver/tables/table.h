#pragma once
#include <span>

#include "base/clock.h"
#include "kube/json.h"
#include "localcluster/apiserver/registry/resource_info.h"

// What `kubectl get` prints: the server makes the rows, so that every client shows the same.
namespace koord::apiserver {

enum class IncludeObject { kNone, kMetadata, kObject };

struct TableOptions {
  std::string_view version = "v1";  // of meta.k8s.io: v1 or v1beta1, same shape
  IncludeObject include_object = IncludeObject::kMetadata;
  // In a watch only the first event describes the columns; later tables carry null.
  bool columns = true;
  kube::Json metadata = kube::json::object();  // resourceVersion, continue, remainingItemCount
  WallTime now;                                // ages are counted from here
};

// The columns come from the kind (info.resource; also Scale and PodTemplate), or from info.columns
// for custom resources. Objects may be of any shape: what is missing prints as Kubernetes prints
// it, never fails.
kube::Json MakeTable(const ResourceInfo& info, std::span<const kube::Json* const> objects,
                     const TableOptions& options);

// `object` cut down to apiVersion meta.k8s.io/<version>, kind PartialObjectMetadata and metadata.
kube::Json PartialObjectMetadata(const kube::Json& object, std::string_view version = "v1");

}  // namespace koord::apiserver
