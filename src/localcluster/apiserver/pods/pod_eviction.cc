#include <utility>

#include "kube/resources.h"
#include "kube/selectors.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_meta.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/pods/pod_actions.h"
#include "localcluster/apiserver/registry/conditions.h"
#include "localcluster/apiserver/registry/json_edit.h"
#include "localcluster/apiserver/write/write_handlers.h"

namespace koord::apiserver {

// One request to evict a pod.
struct PodActions::Eviction {
  RequestPtr request;
  DeleteOptions options;
  bool dry_run = false;
  int attempts = 0;

  // Takes how the pod is to be deleted from what was sent.
  Status ReadOptions(const Json& sent) {
    const Json* given = kube::Find(sent, {"deleteOptions"});
    if (given == nullptr) return absl::OkStatus();
    bool dry = false;
    ASSIGN_OR_RETURN(options, ParseDeleteOptions(*given, dry));
    dry_run |= dry;
    return absl::OkStatus();
  }
};

namespace {

constexpr int kEvictionAttempts = 20;
constexpr Duration kRetryAfter = std::chrono::milliseconds(500);
constexpr size_t kMaxDisruptedPods = 2000;
constexpr char kRefused[] = "Cannot evict pod as it would violate the pod's disruption budget.";

Status TooManyDisruptions(std::string cause, int retry_after) {
  kube::ApiError error;
  error.code = 429;
  error.reason = "TooManyRequests";
  error.message = kRefused;
  error.causes.push_back({"DisruptionBudget", std::move(cause), ""});
  error.retry_after_seconds = retry_after;
  return kube::ToStatus(error);
}

// A pod that does not serve yet, or not any more, is nobody's loss.
bool NeedsNoBudget(const Json& pod) {
  const std::string_view phase = kube::FindString(pod, {"status", "phase"});
  return phase == "Pending" || phase == "Succeeded" || phase == "Failed" || IsBeingDeleted(pod);
}

bool IsReady(const Json& pod) {
  const Json* ready = FindCondition(pod, "Ready");
  return ready != nullptr && kube::FindString(*ready, {"status"}) == "True";
}

bool MayEvictUnhealthy(const Json& budget) {
  if (kube::FindString(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow")
    return true;
  const int64_t desired = kube::FindInt(budget, {"status", "desiredHealthy"});
  return desired > 0 && kube::FindInt(budget, {"status", "currentHealthy"}) >= desired;
}

std::string WhyExhausted(const Json& budget) {
  const std::string_view name = kube::FindString(budget, {"metadata", "name"});
  const int64_t current = kube::FindInt(budget, {"status", "currentHealthy"});
  const int64_t desired = kube::FindInt(budget, {"status", "desiredHealthy"});
  const Json none;
  const Json* found = FindCondition(budget, "DisruptionAllowed");
  const Json& condition = found == nullptr ? none : *found;
  const bool refused = kube::FindString(condition, {"status"}) == "False" &&
                       !kube::FindString(condition, {"message"}).empty();
  const std::string_view reason = kube::FindString(condition, {"reason"});
  const std::string_view message = kube::FindString(condition, {"message"});
  if (refused && reason == "SyncFailed") {
    return fmt::format(
        "The disruption budget {} does not allow evicting pods currently because it failed sync: "
        "{}",
        name, message);
  }
  if (current <= desired) {
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                       desired, current);
  }
  if (refused) {
    return fmt::format("The disruption budget {} does not allow evicting pods currently ({}): {}",
                       name, reason, message);
  }
  return fmt::format("The disruption budget {} does not allow evicting pods currently", name);
}

// Takes one disruption out of the budget, or says why it cannot.
StatusOr<Json> SpendDisruption(const Json& budget, std::string_view pod, std::string_view now) {
  const std::string_view name = kube::FindString(budget, {"metadata", "name"});
  if (kube::FindInt(budget, {"status", "observedGeneration"}) <
      kube::FindInt(budget, {"metadata", "generation"})) {
    return TooManyDisruptions(
        fmt::format("The disruption budget {} is still being processed by the server.", name), 10);
  }
  const int64_t allowed = kube::FindInt(budget, {"status", "disruptionsAllowed"});
  if (allowed < 0) {
    return ForbiddenObject(kube::kPodDisruptionBudgets, name,
                           "pdb disruptions allowed is negative");
  }
  const json::object* disrupted = kube::FindObject(budget, {"status", "disruptedPods"});
  if (disrupted != nullptr && disrupted->size() > kMaxDisruptedPods) {
    return ForbiddenObject(kube::kPodDisruptionBudgets, name,
                           "DisruptedPods map too big - too many evictions not confirmed by PDB "
                           "controller");
  }
  if (allowed == 0) return TooManyDisruptions(WhyExhausted(budget), 0);
  Json spent = budget;
  kube::At(spent, {"status", "disruptionsAllowed"}) = allowed - 1;
  if (allowed == 1) {
    SetCondition(spent, {.type = "DisruptionAllowed",
                         .status = "False",
                         .reason = "InsufficientPods",
                         .time = now,
                         .observed_generation = kube::FindInt(budget, {"metadata", "generation"}),
                         .always_message = true});
  }
  kube::At(spent, {"status", "disruptedPods", pod}) = now;
  return spent;
}

Status CheckName(const Json& eviction, std::string_view name) {
  if (kube::FindString(eviction, {"metadata", "name"}, name) == name) return absl::OkStatus();
  return BadRequest("name in URL does not match name in Eviction object");
}

}  // namespace

PodActions::PodActions(Core& core, Writer& writer) : core_(core), writer_(writer) {
  const auto find = [&](const kube::Resource& resource) {
    return core_.registry.Find(resource.group, resource.version, resource.resource);
  };
  pods_ = find(kube::kPods);
  budgets_ = find(kube::kPodDisruptionBudgets);
}

void PodActions::Evict(RequestPtr request) {
  const StatusOr<WriteOptions> options = WriteOptions::Of(*request, "CreateOptions");
  if (!options.ok()) return RespondError(core_, *request, options.status());
  StatusOr<Body> body = DecodeBody(*request, true);
  if (!body.ok()) return RespondError(core_, *request, body.status());
  if (const Status status = CheckName(body->object, request->name); !status.ok()) {
    return RespondError(core_, *request, status);
  }
  auto eviction = std::make_shared<Eviction>();
  eviction->request = request;
  eviction->dry_run = options->dry_run;
  writer_.Admit(IntentOf(request, *options), Operation::kCreate, std::move(body->object),
                [this, eviction](StatusOr<Json> admitted) {
                  Status status = admitted.status();
                  if (status.ok()) status = CheckName(*admitted, eviction->request->name);
                  if (status.ok()) status = eviction->ReadOptions(*admitted);
                  if (!status.ok()) return RespondError(core_, *eviction->request, status);
                  EvictAttempt(eviction);
                });
}

void PodActions::EvictAttempt(std::shared_ptr<Eviction> eviction) {
  Request& request = *eviction->request;
  const EntryPtr entry = core_.store.Get("pods", KeyOf(request.ns, request.name));
  if (entry == nullptr) {
    return RespondError(core_, request, ObjectNotFound(pods_->resource, request.name));
  }
  const Json pod = LoadObject(core_, *pods_, *entry);
  if (NeedsNoBudget(pod)) {
    // A pending pod might be starting right now: it must still be the one that was judged.
    const bool pending = kube::FindString(pod, {"status", "phase"}) == "Pending";
    return DeleteEvicted(std::move(eviction), pending ? std::to_string(entry->revision) : "");
  }
  const std::vector<Json> budgets = BudgetsFor(*eviction, pod);
  if (budgets.size() > 1) {
    return RespondError(core_, request,
                        PlainError("This pod has more than one PodDisruptionBudget, which the "
                                   "eviction subresource does not support."));
  }
  if (budgets.empty()) return DeleteEvicted(std::move(eviction), "");
  if (!IsReady(pod) && MayEvictUnhealthy(budgets.front())) {
    return DeleteEvicted(std::move(eviction), std::to_string(entry->revision));
  }
  EvictWithinBudget(std::move(eviction), budgets.front());
}

std::vector<Json> PodActions::BudgetsFor(const Eviction& eviction, const Json& pod) const {
  std::vector<Json> matching;
  const std::string prefix = eviction.request->ns + "/";
  const json::object* labels = kube::FindObject(pod, {"metadata", "labels"});
  core_.store
      .Range(budgets_->stored_as(), prefix, prefix, 0,
             [&](const EntryPtr& entry) {
               Json budget = LoadObject(core_, *budgets_, *entry);
               const Json* selector = kube::Find(budget, {"spec", "selector"});
               if (selector == nullptr || selector->is_null()) return true;
               const auto matcher = kube::LabelMatcher::FromJson(*selector);
               if (matcher.ok() && matcher->Matches(labels)) matching.push_back(std::move(budget));
               return true;
             })
      .IgnoreError();
  return matching;
}

void PodActions::EvictWithinBudget(std::shared_ptr<Eviction> eviction, const Json& budget) {
  WriteOptions options;
  options.dry_run = eviction->dry_run;
  WriteIntent intent = IntentOf(eviction->request, options);
  intent.info = budgets_;
  intent.name = kube::FindString(budget, {"metadata", "name"});
  intent.subresource = "status";
  intent.manager.clear();
  const std::string pod = eviction->request->name;
  writer_.Update(
      std::move(intent),
      [this, pod](const Json& current) { return SpendDisruption(current, pod, core_.Timestamp()); },
      [this, eviction](const StatusOr<Written>& written) {
        if (!written.ok()) return RespondError(core_, *eviction->request, written.status());
        DeleteEvicted(eviction, "");
      });
}

void PodActions::DeleteEvicted(std::shared_ptr<Eviction> eviction, std::string resource_version) {
  WriteOptions write_options;
  write_options.dry_run = eviction->dry_run;
  DeleteOptions options = eviction->options;
  const bool pinned = !resource_version.empty() && options.resource_version.empty();
  if (pinned) options.resource_version = std::move(resource_version);
  WriteIntent intent = IntentOf(eviction->request, write_options);
  intent.subresource.clear();
  intent.manager.clear();
  intent.admitted = true;
  intent.prepare_delete = [now = core_.Timestamp()](Json& pod) {
    SetCondition(pod, {.type = "DisruptionTarget",
                       .status = "True",
                       .reason = "EvictionByEvictionAPI",
                       .message = "Eviction API: evicting",
                       .time = now});
  };
  writer_.Delete(std::move(intent), std::move(options),
                 [this, eviction, pinned](const StatusOr<Written>& written) {
                   if (written.ok()) {
                     return RespondCreated(eviction->request, written->entry->revision);
                   }
                   if (pinned && kube::IsConflict(written.status()) &&
                       ++eviction->attempts < kEvictionAttempts) {
                     return core_.After(kRetryAfter, [this, eviction] { EvictAttempt(eviction); });
                   }
                   RespondError(core_, *eviction->request, written.status());
                 });
}

}  // namespace koord::apiserver
