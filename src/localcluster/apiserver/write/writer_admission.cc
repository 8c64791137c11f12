#include "localcluster/apiserver/write/writer_admission.h"

#include <memory>
#include <utility>

#include "localcluster/apiserver/http/body.h"

namespace koord::apiserver {
namespace {

std::string_view OptionsKind(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
    case Operation::kConnect:
      return "CreateOptions";
    case Operation::kUpdate:
      return "UpdateOptions";
    case Operation::kDelete:
      return "DeleteOptions";
  }
  return "";
}

kube::Json OptionsOf(const WriteIntent& intent, Operation operation) {
  kube::json::object options{{"kind", OptionsKind(operation)}, {"apiVersion", "meta.k8s.io/v1"}};
  if (!intent.manager.empty()) options["fieldManager"] = intent.manager;
  if (intent.dry_run) options["dryRun"] = kube::json::array{"All"};
  return options;
}

std::vector<kube::Resource> OtherVersions(const Core& core, const ResourceInfo& info) {
  std::vector<kube::Resource> others;
  const ApiGroup* group = core.registry.FindGroup(info.resource.group);
  if (group == nullptr || group->versions.size() < 2) return others;
  for (const ApiVersion& version : group->versions) {
    if (version.version == info.resource.version) continue;
    const auto other =
        core.registry.Find(info.resource.group, version.version, info.resource.resource);
    if (other != nullptr) others.push_back(other->resource);
  }
  return others;
}

// Without the object: who may still change it decides whether it is moved or copied in.
AdmissionRequest RequestFor(const Core& core, const WriteIntent& intent, Operation operation) {
  AdmissionRequest request;
  request.operation = operation;
  request.resource = intent.info->resource;
  request.subresource = intent.subresource;
  request.name = intent.name;
  request.ns = intent.ns;
  request.options = OptionsOf(intent, operation);
  request.user = intent.user;
  request.dry_run = intent.dry_run;
  request.equivalents = OtherVersions(core, *intent.info);
  request.normalize = [&core, info = intent.info](kube::Json& object) {
    kube::ReportedFields unknown;
    return Normalize(core, *info, object, unknown);
  };
  const Subresource* part = intent.info->FindSubresource(intent.subresource);
  if (operation == Operation::kCreate && part != nullptr) {
    request.normalize = nullptr;  // what is sent is of a kind of its own: a Binding, not a Pod
  }
  return request;
}

void Warn(const WriteIntent& intent, const std::vector<std::string>& warnings) {
  if (intent.request == nullptr) return;
  auto& all = intent.request->warnings;
  all.insert(all.end(), warnings.begin(), warnings.end());
}

// Beside the original: both are gone when the write is done.
void CopyTo(kube::Json& place, const kube::Json& object) {
  std::destroy_at(&place);
  std::construct_at(&place, object, object.storage());
}

void FillObjects(AdmissionRequest& request, Operation operation, const kube::Json& object,
                 const kube::Json* old) {
  if (operation == Operation::kDelete) return CopyTo(request.old_object, object);
  CopyTo(request.object, object);
  if (old != nullptr) CopyTo(request.old_object, *old);
  if (request.name.empty()) request.name = kube::FindString(object, {"metadata", "name"});
}

}  // namespace

bool MayBeMutated(const Webhooks& webhooks, const WriteIntent& intent, Operation operation) {
  return !intent.admitted && webhooks.Mutates(operation, intent.info->resource, intent.subresource);
}

void MutateByWebhooks(Webhooks& webhooks, const Core& core, const WriteIntent& intent,
                      Operation operation, kube::Json& object, const kube::Json* old,
                      Decided done) {
  if (!MayBeMutated(webhooks, intent, operation)) return done(absl::OkStatus());
  AdmissionRequest request = RequestFor(core, intent, operation);
  FillObjects(request, operation, object, old);
  const bool changes = operation != Operation::kDelete;
  webhooks.Mutate(std::move(request), [&object, &intent, changes,
                                       done = std::move(done)](Webhooks::Outcome outcome) mutable {
    Warn(intent, outcome.warnings);
    if (outcome.status.ok() && changes) object = std::move(outcome.object);
    done(outcome.status);
  });
}

void ValidateByWebhooks(Webhooks& webhooks, const Core& core, const WriteIntent& intent,
                        Operation operation, const kube::Json& object, const kube::Json* old,
                        Decided done) {
  if (intent.admitted ||
      !webhooks.Validates(operation, intent.info->resource, intent.subresource)) {
    return done(absl::OkStatus());
  }
  AdmissionRequest request = RequestFor(core, intent, operation);
  FillObjects(request, operation, object, old);
  webhooks.Validate(std::move(request),
                    [&intent, done = std::move(done)](Webhooks::Outcome outcome) mutable {
                      Warn(intent, outcome.warnings);
                      done(outcome.status);
                    });
}

void Writer::Admit(WriteIntent intent, Operation operation, kube::Json object,
                   absl::AnyInvocable<void(StatusOr<kube::Json>)> done) {
  struct State {
    WriteIntent intent;
    kube::Json object;
    absl::AnyInvocable<void(StatusOr<kube::Json>)> done;
  };
  if (const Subresource* part = intent.info->FindSubresource(intent.subresource)) {
    kube::At(object, {"apiVersion"}) = part->kind.api_version();
    kube::At(object, {"kind"}) = part->kind.kind;
  }
  auto state =
      std::make_shared<State>(State{std::move(intent), std::move(object), std::move(done)});
  MutateByWebhooks(webhooks_, core_, state->intent, operation, state->object, nullptr,
                   [this, state, operation](const Status& mutated) {
                     if (!mutated.ok()) return state->done(mutated);
                     ValidateByWebhooks(webhooks_, core_, state->intent, operation, state->object,
                                        nullptr, [state](const Status& validated) {
                                          if (!validated.ok()) return state->done(validated);
                                          state->done(std::move(state->object));
                                        });
                   });
}

}  // namespace koord::apiserver
