#include "localcluster/apiserver/admission/webhooks.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/patch/json_patch.h"
#include "localcluster/apiserver/admission/admission_review.h"
#include "localcluster/apiserver/admission/webhook.h"
#include "localcluster/apiserver/admission/webhook_caller.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

using Hooks = std::vector<InProcessHook>;
using WebhookList = std::shared_ptr<const std::vector<Webhook>>;

Status InternalError(std::string message) {
  return kube::ToStatus(kube::ApiError::Of(500, "Internal error occurred: " + std::move(message)));
}

bool IsWebhookConfiguration(const kube::Resource& resource) {
  return resource.group == "admissionregistration.k8s.io" &&
         (resource.resource == "mutatingwebhookconfigurations" ||
          resource.resource == "validatingwebhookconfigurations");
}

bool Wants(const std::vector<AdmissionRule>& rules, Operation operation,
           const kube::Resource& resource, std::string_view subresource) {
  return std::any_of(rules.begin(), rules.end(), [&](const AdmissionRule& rule) {
    return Matches(rule, operation, resource, subresource);
  });
}

// Whatever version the rules name: an equivalent one may be asked for.
bool MayWant(const Webhook& webhook, Operation operation, const kube::Resource& resource,
             std::string_view subresource) {
  const auto matches = webhook.equivalent ? MatchesInSomeVersion : Matches;
  return std::any_of(webhook.rules.begin(), webhook.rules.end(), [&](const AdmissionRule& rule) {
    return matches(rule, operation, resource, subresource);
  });
}

// An in-process hook denies as a webhook would, unless it has an API error to give.
Status Denial(const InProcessHook& hook, const Status& status) {
  if (kube::AsApiError(status)) return status;
  return kube::ToStatus(DenialError(
      hook.name,
      json::object{{"message", Message(status)}, {"reason", "Forbidden"}, {"code", 403}}));
}

Status CheckDryRun(const Webhook& webhook, const AdmissionRequest& request) {
  if (!request.dry_run || webhook.no_side_effects) return absl::OkStatus();
  return kube::ToStatus(kube::ApiError::Of(
      400, fmt::format("admission webhook \"{}\" does not support dry run", webhook.name)));
}

// What becomes of a request whose webhook gave no proper answer.
Status CallFailure(const Webhook& webhook, const Status& failure) {
  if (webhook.ignore_failure) {
    LOG_WARNING("Failed calling webhook, failing open", {"webhook", webhook.name},
                {"err", failure});
    return absl::OkStatus();
  }
  return InternalError(fmt::format("failed calling webhook \"{}\": failed to call webhook: {}",
                                   webhook.name, Message(failure)));
}

// The decision of one webhook: OK lets the request go on.
Status Judge(const Webhook& webhook, const StatusOr<ReviewAnswer>& answer,
             std::vector<std::string>& warnings) {
  if (!answer.ok()) return CallFailure(webhook, answer.status());
  warnings.insert(warnings.end(), answer->warnings.begin(), answer->warnings.end());
  if (answer->allowed) return absl::OkStatus();
  return kube::ToStatus(DenialError(webhook.name, answer->status));
}

Status Normalize(AdmissionRequest& request) {
  return request.normalize == nullptr ? absl::OkStatus() : request.normalize(request.object);
}

// A request and the webhooks that it has to pass.
struct Passage {
  WebhookCaller& caller;
  const WebhookEnvironment& environment;
  WebhookList webhooks;
  AdmissionRequest request;
  Webhooks::Done done;

  // The resource as the webhook wants to see it; null if it does not want this request.
  const kube::Resource* Wanted(const Webhook& webhook) const {
    const kube::Resource* resource = MatchedResource(webhook, request);
    if (resource == nullptr || IsNeedless(webhook)) return nullptr;
    return SelectorsMatch(webhook, request, environment) ? resource : nullptr;
  }

  bool IsNeedless(const Webhook& webhook) const {
    return environment.is_needless && webhook.service &&
           environment.is_needless(*webhook.service, webhook.path, request);
  }
};

// One request on its way through the mutating webhooks.
class Mutation : public std::enable_shared_from_this<Mutation> {
 public:
  explicit Mutation(Passage passage)
      : passage_(std::move(passage)), seen_(passage_.webhooks->size(), kNotCalled) {}

  // Goes on until an answer must be waited for, or all is done.
  void Run() {
    while (!waiting_ && !finished_) {
      if (next_ < passage_.webhooks->size()) {
        Consider(next_++);
      } else if (!reinvoking_) {
        reinvoking_ = true;
        next_ = 0;
      } else {
        Finish(absl::OkStatus());
      }
    }
  }

 private:
  static constexpr int kNotCalled = -1;

  void Consider(size_t index) {
    const Webhook& webhook = (*passage_.webhooks)[index];
    if (reinvoking_) {
      const bool changed_since = seen_[index] != kNotCalled && seen_[index] != version_;
      if (!webhook.reinvoke || !changed_since) return;
    }
    const kube::Resource* resource = passage_.Wanted(webhook);
    if (resource == nullptr) return;
    if (Status status = CheckDryRun(webhook, passage_.request); !status.ok()) return Finish(status);
    waiting_ = true;
    passage_.caller.Call(
        webhook, passage_.request, *resource, /*mutating=*/true,
        [self = shared_from_this(), index, resource = *resource](StatusOr<ReviewAnswer> answer) {
          self->Answered(index, resource, std::move(answer));
        });
  }

  void Answered(size_t index, const kube::Resource& resource, StatusOr<ReviewAnswer> answer) {
    waiting_ = false;
    const Webhook& webhook = (*passage_.webhooks)[index];
    Status status = Judge(webhook, answer, warnings_);
    if (status.ok() && answer.ok() && !answer->patch.is_null()) {
      status = ApplyPatch(webhook, resource, answer->patch);
    }
    seen_[index] = version_;
    if (!status.ok()) Finish(std::move(status));
    Run();
  }

  Status ApplyPatch(const Webhook& webhook, const kube::Resource& resource, const Json& patch) {
    if (!passage_.request.object.is_object()) {
      return InternalError(fmt::format(
          "admission webhook \"{}\" attempted to modify the object, which is not supported for "
          "this operation",
          webhook.name));
    }
    Json sent = passage_.request.object;
    const Json* api_version = kube::Find(passage_.request.object, {"apiVersion"});
    const bool renamed = resource != passage_.request.resource && api_version != nullptr;
    if (renamed) sent.get_object()["apiVersion"] = resource.api_version();
    auto patched = kube::ApplyJsonPatch(std::move(sent), patch);
    if (!patched.ok()) {
      return InternalError(fmt::format("the patch of admission webhook \"{}\" does not fit: {}",
                                       webhook.name, Message(patched.status())));
    }
    if (!patched->is_object()) {
      return InternalError(
          fmt::format("the patch of admission webhook \"{}\" leaves no object", webhook.name));
    }
    if (renamed) patched->get_object()["apiVersion"] = *api_version;
    const Json before = std::exchange(passage_.request.object, *std::move(patched));
    RETURN_IF_ERROR(Normalize(passage_.request));
    if (!kube::Equal(before, passage_.request.object)) ++version_;
    return absl::OkStatus();
  }

  void Finish(Status status) {
    if (std::exchange(finished_, true)) return;
    passage_.done({std::move(status), std::move(passage_.request.object), std::move(warnings_)});
  }

  Passage passage_;
  std::vector<int> seen_;  // the version of the object after each webhook's last call
  std::vector<std::string> warnings_;
  int version_ = 0;  // of the object: moves with every patch that changes something
  size_t next_ = 0;
  bool reinvoking_ = false;
  bool waiting_ = false;
  bool finished_ = false;
};

// One request before all validating webhooks at once.
class Validation : public std::enable_shared_from_this<Validation> {
 public:
  explicit Validation(Passage passage)
      : passage_(std::move(passage)), verdicts_(passage_.webhooks->size()) {}

  void Run() {
    waiting_ = 1;  // held until every webhook has been asked
    for (size_t i = 0; i < passage_.webhooks->size(); ++i) Ask(i);
    Answered();
  }

 private:
  struct Verdict {
    Status status;
    std::vector<std::string> warnings;
  };

  void Ask(size_t index) {
    const Webhook& webhook = (*passage_.webhooks)[index];
    const kube::Resource* resource = passage_.Wanted(webhook);
    if (resource == nullptr) return;
    Verdict& verdict = verdicts_[index];
    verdict.status = CheckDryRun(webhook, passage_.request);
    if (!verdict.status.ok()) return;
    ++waiting_;
    passage_.caller.Call(webhook, passage_.request, *resource, /*mutating=*/false,
                         [self = shared_from_this(), index](StatusOr<ReviewAnswer> answer) {
                           Verdict& verdict = self->verdicts_[index];
                           verdict.status =
                               Judge((*self->passage_.webhooks)[index], answer, verdict.warnings);
                           self->Answered();
                         });
  }

  void Answered() {
    if (--waiting_ > 0) return;
    Webhooks::Outcome outcome;
    for (Verdict& verdict : verdicts_) {
      std::move(verdict.warnings.begin(), verdict.warnings.end(),
                std::back_inserter(outcome.warnings));
      if (outcome.status.ok()) outcome.status = verdict.status;
    }
    outcome.object = std::move(passage_.request.object);
    passage_.done(std::move(outcome));
  }

  Passage passage_;
  std::vector<Verdict> verdicts_;
  size_t waiting_ = 0;
};

}  // namespace

class Webhooks::Impl {
 public:
  Impl(WebhookEnvironment environment, uint64_t seed)
      : environment_(std::move(environment)), caller_(environment_, seed) {}

  void Set(WebhookList& list, const std::vector<Json>& configurations) {
    list = std::make_shared<const std::vector<Webhook>>(CompileConfigurations(configurations));
    caller_.ForgetTransports();
  }

  bool AnyWants(const WebhookList& list, bool mutating, Operation operation,
                const kube::Resource& resource, std::string_view subresource) const {
    if (IsWebhookConfiguration(resource)) return false;
    const bool in_process =
        std::any_of(hooks_.begin(), hooks_.end(), [&](const InProcessHook& hook) {
          return (mutating ? hook.mutate != nullptr : hook.validate != nullptr) &&
                 Wants(hook.rules, operation, resource, subresource);
        });
    return in_process || std::any_of(list->begin(), list->end(), [&](const Webhook& webhook) {
             return MayWant(webhook, operation, resource, subresource);
           });
  }

  void Mutate(AdmissionRequest request, Done done) {
    if (IsWebhookConfiguration(request.resource)) return done({{}, std::move(request.object), {}});
    for (const InProcessHook& hook : hooks_) {
      if (hook.mutate == nullptr || !IsFor(hook, request)) continue;
      Status status = hook.mutate(request);
      if (!status.ok()) return done({Denial(hook, status), std::move(request.object), {}});
      if (status = Normalize(request); !status.ok()) {
        return done({std::move(status), std::move(request.object), {}});
      }
    }
    Passage passage{caller_, environment_, mutating_, std::move(request), std::move(done)};
    std::make_shared<Mutation>(std::move(passage))->Run();
  }

  void Validate(AdmissionRequest request, Done done) {
    if (IsWebhookConfiguration(request.resource)) return done({{}, std::move(request.object), {}});
    for (const InProcessHook& hook : hooks_) {
      if (hook.validate == nullptr || !IsFor(hook, request)) continue;
      if (Status status = hook.validate(request); !status.ok()) {
        return done({Denial(hook, status), std::move(request.object), {}});
      }
    }
    Passage passage{caller_, environment_, validating_, std::move(request), std::move(done)};
    std::make_shared<Validation>(std::move(passage))->Run();
  }

  WebhookList mutating_ = std::make_shared<const std::vector<Webhook>>();
  WebhookList validating_ = std::make_shared<const std::vector<Webhook>>();
  Hooks hooks_;

 private:
  static bool IsFor(const InProcessHook& hook, const AdmissionRequest& request) {
    return Wants(hook.rules, request.operation, request.resource, request.subresource);
  }

  WebhookEnvironment environment_;
  WebhookCaller caller_;
};

Webhooks::Webhooks(WebhookEnvironment environment, uint64_t seed)
    : impl_(std::make_unique<Impl>(std::move(environment), seed)) {}

Webhooks::~Webhooks() = default;

void Webhooks::SetMutating(const std::vector<Json>& configurations) {
  impl_->Set(impl_->mutating_, configurations);
}

void Webhooks::SetValidating(const std::vector<Json>& configurations) {
  impl_->Set(impl_->validating_, configurations);
}

void Webhooks::Register(InProcessHook hook) { impl_->hooks_.push_back(std::move(hook)); }

bool Webhooks::Mutates(Operation operation, const kube::Resource& resource,
                       std::string_view subresource) const {
  return impl_->AnyWants(impl_->mutating_, true, operation, resource, subresource);
}

bool Webhooks::Validates(Operation operation, const kube::Resource& resource,
                         std::string_view subresource) const {
  return impl_->AnyWants(impl_->validating_, false, operation, resource, subresource);
}

void Webhooks::Mutate(AdmissionRequest request, Done done) {
  impl_->Mutate(std::move(request), std::move(done));
}

void Webhooks::Validate(AdmissionRequest request, Done done) {
  impl_->Validate(std::move(request), std::move(done));
}

}  // namespace koord::apiserver
