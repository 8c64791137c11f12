#include <utility>

#include "kube/schema/strict.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_meta.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/pods/pod_actions.h"
#include "localcluster/apiserver/registry/conditions.h"
#include "localcluster/apiserver/registry/json_edit.h"
#include "localcluster/apiserver/write/write_handlers.h"

namespace koord::apiserver {
namespace {

constexpr char kSubresource[] = "pods/binding";

// The binding in the form of its type; what it says is put into the pod.
Status Conform(Json& binding) {
  kube::ReportedFields unknown;
  const Status status = kube::Conform(*kube::FindBuiltinType("v1", "Binding"), binding, unknown);
  return status.ok() ? status : BadRequest("Binding.{}", Message(status));
}

Status CheckBinding(const Json& binding, std::string_view name) {
  if (kube::FindString(binding, {"metadata", "name"}, name) != name) {
    return BadRequest("name in URL does not match name in Binding object");
  }
  const std::string_view kind = kube::FindString(binding, {"target", "kind"});
  if (!kind.empty() && kind != "Node") {
    return PlainError("target.kind: Unsupported value: \"{}\": supported values: \"Node\", \"\"",
                      kind);
  }
  if (kube::FindString(binding, {"target", "name"}).empty()) {
    return PlainError("target.name: Required value");
  }
  return absl::OkStatus();
}

Status CheckPrecondition(const Json& binding, const Json& pod, std::string_view field,
                         std::string_view what) {
  const std::string_view wanted = kube::FindString(binding, {"metadata", field});
  const std::string_view found = kube::FindString(pod, {"metadata", field});
  if (wanted.empty() || wanted == found) return absl::OkStatus();
  return Conflict(kSubresource, kube::FindString(pod, {"metadata", "name"}),
                  fmt::format("Precondition failed: {0} in precondition: {1}, {0} in object meta: "
                              "{2}",
                              what, wanted, found));
}

Status CheckBindable(const Json& binding, const Json& pod) {
  const std::string_view name = kube::FindString(pod, {"metadata", "name"});
  RETURN_IF_ERROR(CheckPrecondition(binding, pod, "uid", "UID"));
  RETURN_IF_ERROR(CheckPrecondition(binding, pod, "resourceVersion", "ResourceVersion"));
  if (IsBeingDeleted(pod)) {
    return Conflict(kSubresource, name,
                    fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
  }
  if (const std::string_view node = kube::FindString(pod, {"spec", "nodeName"}); !node.empty()) {
    return Conflict(kSubresource, name,
                    fmt::format("pod {} is already assigned to node \"{}\"", name, node));
  }
  const json::array* gates = kube::FindArray(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    return Conflict(kSubresource, name,
                    fmt::format("pod {} has non-empty .spec.schedulingGates", name));
  }
  return absl::OkStatus();
}

void CopyPairs(const Json& binding, std::string_view field, Json& pod) {
  const json::object* pairs = kube::FindObject(binding, {"metadata", field});
  if (pairs == nullptr) return;
  for (const auto& pair : *pairs) {
    kube::At(pod, {"metadata", field, std::string_view(pair.key())}) = pair.value();
  }
}

}  // namespace

void PodActions::Bind(RequestPtr request) {
  const StatusOr<WriteOptions> options = WriteOptions::Of(*request, "CreateOptions");
  if (!options.ok()) return RespondError(core_, *request, options.status());
  StatusOr<Body> body = DecodeBody(*request, true);
  if (!body.ok()) return RespondError(core_, *request, body.status());
  if (const Status status = Conform(body->object); !status.ok()) {
    return RespondError(core_, *request, status);
  }
  // POST to `bindings` names the pod in the body only.
  const std::string name = request->subresource.empty()
                               ? std::string(kube::FindString(body->object, {"metadata", "name"}))
                               : request->name;
  if (const Status status = CheckBinding(body->object, name); !status.ok()) {
    return RespondError(core_, *request, status);
  }
  WriteIntent intent = IntentOf(request, *options);
  intent.info = pods_;
  intent.name = name;
  intent.subresource = "binding";
  writer_.Admit(intent, Operation::kCreate, std::move(body->object),
                [this, request, intent](StatusOr<Json> binding) mutable {
                  Status status = binding.status();
                  if (status.ok()) status = CheckBinding(*binding, intent.name);
                  if (!status.ok()) return RespondError(core_, *request, status);
                  intent.admitted = true;
                  Assign(request, std::move(intent),
                         std::make_shared<const Json>(*std::move(binding)));
                });
}

void PodActions::Assign(RequestPtr request, WriteIntent intent,
                        std::shared_ptr<const Json> binding) {
  writer_.Update(
      std::move(intent),
      [this, binding](const Json& current) -> StatusOr<Json> {
        RETURN_IF_ERROR(CheckBindable(*binding, current));
        Json pod = current;
        kube::At(pod, {"spec", "nodeName"}) = kube::FindString(*binding, {"target", "name"});
        CopyPairs(*binding, "annotations", pod);
        CopyPairs(*binding, "labels", pod);
        if (Json* status = kube::Find(pod, {"status"}); status != nullptr && status->is_object()) {
          status->get_object().erase("nominatedNodeName");
        }
        const std::string now = core_.Timestamp();
        SetCondition(pod, {.type = "PodScheduled", .status = "True", .time = now});
        return pod;
      },
      [this, request](const StatusOr<Written>& written) {
        if (!written.ok()) return RespondError(core_, *request, written.status());
        RespondCreated(request, written->entry->revision);
      });
}

void PodActions::RespondCreated(RequestPtr request, Revision revision) {
  core_.WhenDurable(revision, [this, request] {
    Respond(core_, *request, 201,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
  });
}

}  // namespace koord::apiserver
