#include "scheduler/quota_controller/quota_controller.h"

#include <memory>
#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/controller/plan.h"
#include "kube/controller/write.h"
#include "scheduler/quota_controller/quota_status_patch.h"

namespace koord::scheduler {
namespace {

constexpr Duration kPeriod = 1s;
constexpr Duration kCreateAgain = 30s;
constexpr int kWrites = 16;  // at a time
// No pod is about to come for longer than this.
constexpr Duration kPatience = 30s;

kube::ObjectKey KeyOfText(std::string_view text) {
  const size_t slash = text.find('/');
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

metrics::Histogram* DurationIn(metrics::Registry* registry) {
  if (registry == nullptr) return nullptr;
  return &registry->AddHistogram("scheduler_update_elastic_quota_status_duration_seconds",
                                 "How long it took to write the status of an ElasticQuota.",
                                 metrics::ExponentialBuckets(0.001, 2, 15));
}

}  // namespace

QuotaController::QuotaController(const PluginContext& context, const ElasticQuotaArgs& args)
    : context_(context),
      book_(context.books.quotas),
      objects_(context.objects.elastic_quotas),
      args_(args),
      duration_(DurationIn(context.metrics)),
      queue_(
          context.loop,
          [this](const std::string& key, kube::WorkQueue::Finish done) {
            Handle(key, std::move(done));
          },
          kWrites),
      timer_(context.loop) {}

void QuotaController::AddTo(const PluginContext& context, const ElasticQuotaArgs& args) {
  context.leader_parts->Add(std::unique_ptr<QuotaController>(new QuotaController(context, args)));
}

void QuotaController::Start() {
  running_ = true;
  Look();
}

void QuotaController::Stop(Task done) {
  running_ = false;
  timer_.Cancel();
  seen_.clear();
  all_is_said_ = false;
  when_stopped_ = std::move(done);
  Done();
}

void QuotaController::Done() {
  if (running_ || under_way_ != 0 || !when_stopped_) return;
  std::exchange(when_stopped_, nullptr)();
}

void QuotaController::Look() {
  timer_.Set(kPeriod, [this] { Look(); });
  CreateMissing();
  const uint64_t tree_version = book_.tree().version();
  const bool is_same = tree_version == tree_version_ && objects_.version() == objects_version_;
  if (is_same && all_is_said_) return;
  tree_version_ = tree_version;
  objects_version_ = objects_.version();
  all_is_said_ = true;
  absl::erase_if(
      seen_, [this](const auto& each) { return objects_.Find(KeyOfText(each.first)) == nullptr; });
  absl::erase_if(warned_of_, [this](const auto& each) {
    return objects_.Find(KeyOfText(each.first)) == nullptr;
  });
  for (const auto& [key, object] : objects_.objects()) LookAt(*object);
}

void QuotaController::LookAt(const api::ElasticQuota& object) {
  WarnOfProblem(object);
  const std::string& name = object.metadata.name;
  const auto counts = book_.ObjectOf(name);
  const model::Quota* quota = book_.tree().Find(name);
  if (quota == nullptr || counts == nullptr || counts->metadata.ns != object.metadata.ns) return;
  Seen& seen = seen_[KeyOf(object.metadata).ToString()];
  model::QuotaStatus status = model::StatusOf(book_.tree(), *quota);
  const bool is_same_version = seen.version == object.metadata.resource_version;
  if (is_same_version && seen.is_true && seen.status == status) return;
  seen.version = object.metadata.resource_version;
  seen.status = std::move(status);
  const bool keep = IsAdmitting(object, seen);
  const auto write = QuotaStatusPatch(object, seen.status, book_.tree().dimensions(), keep);
  seen.is_true = !write && !keep;
  if (!seen.is_true) all_is_said_ = false;
  if (write) queue_.Add(KeyOf(object.metadata).ToString());
}

bool QuotaController::IsAdmitting(const api::ElasticQuota& object, Seen& seen) const {
  if (!AdmitsMore(object, seen.status, book_.tree().dimensions())) return false;
  const std::string_view said =
      kube::ValueOf(object.metadata.annotations, api::kAnnotationQuotaChildRequest);
  if (said == seen.own_request) return false;
  const SteadyTime now = context_.loop.clock().Steady();
  if (said != seen.other_request) {
    seen.other_request = said;
    seen.other_since = now;
  }
  return now - seen.other_since < kPatience;
}

void QuotaController::Handle(const std::string& key, kube::WorkQueue::Finish done) {
  const api::ElasticQuota* object = running_ ? objects_.Find(KeyOfText(key)) : nullptr;
  const model::Quota* quota =
      object == nullptr ? nullptr : book_.tree().Find(object->metadata.name);
  if (quota == nullptr) return done(true);
  Seen& seen = seen_[key];
  seen.status = model::StatusOf(book_.tree(), *quota);
  const model::Dimensions& dimensions = book_.tree().dimensions();
  const auto write = QuotaStatusPatch(*object, seen.status, dimensions, IsAdmitting(*object, seen));
  if (!write) return done(true);
  seen.own_request = api::EncodeAnnotation(dimensions.ListOf(seen.status.child_request));
  ++under_way_;
  const SteadyTime started = context_.loop.clock().Steady();
  kube::Send(*context_.client, *write,
             scope_.Wrap([this, key, started, done](const StatusOr<kube::Json>& answer) {
               --under_way_;
               if (duration_ != nullptr) {
                 const std::chrono::duration<double> took =
                     context_.loop.clock().Steady() - started;
                 duration_->Observe(took.count());
               }
               if (!answer.ok()) {
                 LOG_V(2, "Could not write the status of a quota", {"quota", key},
                       {"err", answer.status()});
               }
               // The next look decides anew, upon what is shown then.
               done(true);
               Done();
             }));
}

// ---- Quotas that do not count

void QuotaController::WarnOfProblem(const api::ElasticQuota& object) {
  if (context_.recorder == nullptr) return;
  const std::string key = KeyOf(object.metadata).ToString();
  const std::string problem = book_.ProblemOf(object);
  const auto told = warned_of_.find(key);
  if (problem.empty()) {
    if (told != warned_of_.end()) warned_of_.erase(told);
    return;
  }
  if (told != warned_of_.end() && told->second == problem) return;
  warned_of_[key] = problem;
  kube::Plan plan;
  plan.Warn(api::kElasticQuotas, object.metadata, "InvalidElasticQuota", problem);
  plan.notes.front().action = "Sharing";  // without one the API server refuses it
  context_.recorder->Record(plan.notes.front());
}

// ---- The built-in quotas

void QuotaController::CreateMissing() {
  if (context_.loop.clock().Steady() < create_again_) return;
  for (const std::string_view name : {api::kRootQuota, api::kSystemQuota, api::kDefaultQuota}) {
    if (book_.ObjectOf(name) == nullptr && !creating_.contains(name)) Create(name);
  }
}

void QuotaController::Create(std::string_view name) {
  kube::json::object metadata{{"name", name}, {"namespace", args_.quota_group_namespace}};
  kube::json::object quota;
  if (name == api::kRootQuota) {
    metadata["labels"] = {{api::kLabelQuotaIsParent, "true"},
                          {api::kLabelQuotaAllowLentResource, "false"},
                          {api::kLabelQuotaParent, ""}};
  } else {
    const bool is_default = name == api::kDefaultQuota;
    quota["spec"] = {{"max", kube::Encode(is_default ? args_.default_quota_group_max
                                                     : args_.system_quota_group_max)}};
  }
  quota["metadata"] = std::move(metadata);
  creating_.insert(std::string(name));
  ++under_way_;
  kube::Send(
      *context_.client, kube::CreateUnlessThere(api::kElasticQuotas, std::move(quota)),
      scope_.Wrap([this, name](const StatusOr<kube::Json>& answer) {
        --under_way_;
        creating_.erase(name);
        create_again_ = context_.loop.clock().Steady() + kCreateAgain;
        if (!answer.ok() && !kube::IsAlreadyExists(answer.status())) {
          LOG_V(2, "Could not create a built-in quota", {"quota", name}, {"err", answer.status()});
        }
        Done();
      }));
}

}  // namespace koord::scheduler
