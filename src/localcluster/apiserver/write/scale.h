#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {

// The scale subresource: replicas of a workload, built in or custom, in the one shape that
// autoscalers and `kubectl scale` know.
class ScaleHandlers {
 public:
  ScaleHandlers(Core& core, Writer& writer) : core_(core), writer_(writer) {}

  void Handle(RequestPtr request);  // get, update and patch

 private:
  void Get(RequestPtr request);
  void Update(RequestPtr request);
  void Patch(RequestPtr request);
  void Write(RequestPtr request, std::string_view options_kind,
             std::function<StatusOr<kube::Json>(const kube::Json& scale)> change);
  void RespondScale(RequestPtr request, EntryPtr entry);
  kube::Json ScaleOf(const ResourceInfo& info, const kube::Json& object) const;
  StatusOr<kube::Json> WithScale(const ResourceInfo& info, const kube::Json& object,
                                 const kube::Json& scale) const;

  Core& core_;
  Writer& writer_;
};

}  // namespace koord::apiserver
