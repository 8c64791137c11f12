#include "scheduler/core/scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/log.h"

namespace koord::scheduler {
namespace {

// How long the scheduler keeps the loop to itself: long enough to place hundreds of pods, short
// enough for a lease to be renewed and a watch to be read.
constexpr Duration kTurn = 2ms;
constexpr int kPodsATurn = 256;
// Enough to keep an API server busy. Nodes that are chosen while it is behind would only be chosen
// on older knowledge, and wait in memory.
constexpr size_t kMaxWrites = 256;

bool IsAssigned(const std::shared_ptr<const kube::Pod>& pod) {
  return pod != nullptr && !pod->spec.node_name.empty();
}

std::string NameOf(const kube::Pod& pod) { return KeyOf(pod.metadata).ToString(); }

}  // namespace

std::string_view ToString(AttemptResult result) {
  switch (result) {
    case AttemptResult::kScheduled:
      return "scheduled";
    case AttemptResult::kUnschedulable:
      return "unschedulable";
    case AttemptResult::kError:
      return "error";
  }
  return "error";
}

Scheduler::Scheduler(EventLoop& loop, kube::Client& client, Options options)
    : loop_(loop),
      client_(client),
      options_(std::move(options)),
      patcher_(loop, client, options_.seed),
      random_(options_.seed),
      nominator_([this](const kube::Pod& pod) { return pending_.contains(pod.metadata.uid); },
                 [this](std::string_view node) { nominated_.Set(node, nominator_.On(node)); }),
      nominated_(ledger_),
      order_(ledger_),
      waiting_(loop),
      shared_{.nominator = nominator_,
              .waiting = waiting_,
              .observer = options_.observer != nullptr ? options_.observer : &nobody_} {
  options_.observer = shared_.observer;
}

Scheduler::~Scheduler() = default;

StatusOr<std::unique_ptr<Scheduler>> Scheduler::Make(EventLoop& loop, kube::Client& client,
                                                     Options options) {
  auto scheduler = std::unique_ptr<Scheduler>(new Scheduler(loop, client, std::move(options)));
  RETURN_IF_ERROR(scheduler->MakeRuntimes());
  return scheduler;
}

Status Scheduler::MakeRuntimes() {
  std::vector<QueueProfile> queue_profiles;
  for (Options::Profile& profile : options_.profiles) {
    auto runtime = std::make_unique<Runtime>(shared_, client_, std::move(profile.recorder));
    const PluginContext context{.ledger = ledger_,
                                .objects = objects_,
                                .reasons = reasons_,
                                .loop = loop_,
                                .random = random_,
                                .handle = runtime.get(),
                                .client = &client_,
                                .recorder = &runtime->recorder(),
                                .profile = profile.name};
    ASSIGN_OR_RETURN(PluginLineup made, profile.make(context));
    auto plugins = std::make_unique<PluginLineup>(std::move(made));
    QueueProfile queue_profile{.name = plugins->name, .pre_enqueue = plugins->pre_enqueue};
    for (const auto& plugin : plugins->plugins) {
      if (auto* requeue = dynamic_cast<RequeuePlugin*>(plugin.get())) {
        queue_profile.requeue.emplace(plugin->name(), requeue);
      }
    }
    queue_profiles.push_back(std::move(queue_profile));
    auto pipeline = std::make_unique<Pipeline>(*plugins, ledger_, nominated_, order_, random_);
    auto binding = std::make_unique<BindingCycle>(
        *plugins, patcher_, [this](const Attempt& attempt) { return StillWanted(attempt); },
        [this](CyclePoint point, Attempt& attempt, Code code) { EndPoint(point, attempt, code); },
        options_.extenders == nullptr
            ? BindingCycle::BindInstead()
            : [this](const Attempt& attempt, VerdictDone done) {
                options_.extenders->Bind(*attempt.pod, attempt.node, std::move(done));
              });
    by_name_.emplace(plugins->name, runtime.get());
    runtime->Set(std::move(plugins), std::move(pipeline), std::move(binding));
    runtimes_.push_back(std::move(runtime));
  }
  if (runtimes_.empty()) return InvalidArgument("no profile is configured");
  queue_ = std::make_unique<SchedulingQueue>(loop_, *runtimes_.front()->plugins().queue_sort,
                                             std::move(queue_profiles), options_.queue);
  queue_->OnReady([this] { Wake(); });
  shared_.queue = queue_.get();
  return absl::OkStatus();
}

Runtime* Scheduler::RuntimeOf(const kube::Pod& pod) const {
  const auto found = by_name_.find(pod.spec.scheduler_name);
  return found == by_name_.end() ? nullptr : found->second;
}

Pipeline* Scheduler::PipelineFor(const kube::Pod& pod) {
  Runtime* runtime = RuntimeOf(pod);
  return runtime == nullptr ? nullptr : &runtime->pipeline();
}

void Scheduler::ForEachPending(const std::function<void(const kube::Pod&)>& visit) const {
  for (const PodPtr& pod : pending_) visit(*pod);
}

std::vector<const PluginLineup*> Scheduler::lineups() const {
  std::vector<const PluginLineup*> lineups;
  for (const auto& runtime : runtimes_) lineups.push_back(&runtime->plugins());
  return lineups;
}

// ---- What the cluster says

void Scheduler::OnPod(const PodPtr& before, const PodPtr& after) {
  if (after == nullptr) return OnGone(before);
  if (IsAssigned(after)) return OnAssigned(before, after);
  OnUnassigned(before, after);
}

void Scheduler::OnAssigned(const PodPtr& before, const PodPtr& after) {
  const std::string& uid = after->metadata.uid;
  pending_.erase(uid);
  queue_->Delete(uid);
  if (nominator_.Remove(uid)) WakeAfterPromise(*after);
  const bool known = IsAssigned(before);
  ledger_.SetPod(after);
  queue_->OnEvent({.kind = known ? EventKind::kAssignedPodUpdated : EventKind::kAssignedPodAdded,
                   .pod_before = before,
                   .pod_after = after});
}

void Scheduler::OnUnassigned(const PodPtr& before, const PodPtr& after) {
  const std::string& uid = after->metadata.uid;
  Put(pending_, after);
  const bool moved = before == nullptr ? nominator_.Add(after) : nominator_.Update(*before, after);
  if (moved) WakeAfterPromise(*after);
  if (RuntimeOf(*after) == nullptr) {
    queue_->Delete(uid);
    return;
  }
  // While it is being bound the queue remembers the newest version for its return.
  queue_->Add(after);
}

void Scheduler::OnGone(const PodPtr& before) {
  const std::string& uid = before->metadata.uid;
  pending_.erase(uid);
  queue_->Delete(uid);
  const bool promised = nominator_.Remove(uid);
  // A pod that waits for its permit gives its node back; one that is being bound does so when the
  // API server has answered, unless it was seen on its node before the answer came. One that was
  // bound may never have been seen there.
  waiting_.Reject(uid, "", "pod is deleted");
  const PodInfo* known = ledger_.Find(uid);
  const bool seen = known != nullptr && !known->assumed;
  const bool held = (seen || !binding_.contains(uid)) && ledger_.RemovePod(uid);
  if (held) {
    queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = before});
  } else if (promised) {
    WakeAfterPromise(*before);
  }
}

void Scheduler::WakeAfterPromise(const kube::Pod& pod) {
  queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved},
                  {.except_uid = pod.metadata.uid, .max_priority = pod.spec.priority.value_or(0)});
}

void Scheduler::OnNode(const NodePtr& before, const NodePtr& after) {
  if (after == nullptr) {
    ledger_.RemoveNode(before->metadata.name);
    queue_->OnEvent({.kind = EventKind::kNodeRemoved, .node_before = before});
    return;
  }
  NodeChanges changes;
  const bool is_new = !ledger_.nodes().Find(after->metadata.name);
  ledger_.SetNode(after, &changes);
  if (!is_new && !changes.any()) return;
  queue_->OnEvent({.kind = is_new ? EventKind::kNodeAdded : EventKind::kNodeUpdated,
                   .node_before = before,
                   .node_after = after,
                   .node_changes = changes});
}

// ---- Turns

void Scheduler::Start() {
  running_ = true;
  Wake();
}

void Scheduler::Stop() { running_ = false; }

void Scheduler::WhenDrained(Task done) {
  when_drained_.push_back(std::move(done));
  TellDrained();
}

void Scheduler::TellDrained() {
  if (binding() != 0) return;
  for (Task& done : std::exchange(when_drained_, {})) done();
}

void Scheduler::EndPoint(CyclePoint point, Attempt& attempt, Code code) {
  const SteadyTime now = loop_.clock().Steady();
  observer().OnPoint(point, attempt, code, now - attempt.point_started);
  attempt.point_started = now;
}

bool Scheduler::idle() const {
  return queue_->counts().active == 0 && binding_.empty() && !turn_posted_ && !asking_;
}

void Scheduler::Wake() {
  if (!running_ || turn_posted_ || asking_) return;
  turn_posted_ = true;
  loop_.Post(scope_.Wrap([this] { RunTurn(); }));
}

void Scheduler::RunTurn() {
  turn_posted_ = false;
  const SteadyTime end = loop_.clock().Steady() + kTurn;
  for (int i = 0; i < kPodsATurn && running_ && !asking_; ++i) {
    api_is_behind_ = Writing() >= kMaxWrites;
    if (api_is_behind_) return;  // OnBound calls Wake
    const auto queued = queue_->Pop();
    if (!queued) return;  // the queue calls Wake
    TryPod(*queued);
    if (loop_.clock().Steady() >= end) break;
  }
  Wake();
}

size_t Scheduler::Writing() const {
  size_t pods = 0;
  for (const auto& runtime : runtimes_) pods += runtime->binding().writing();
  return pods;
}

void Scheduler::TryPod(const QueuedPod& queued) {
  const kube::Pod& pod = *queued.pod;
  const std::string& uid = pod.metadata.uid;
  observer().OnPopped(queued);
  Runtime* runtime = RuntimeOf(pod);
  const bool deleting = IsBeingDeleted(pod.metadata);
  if (runtime == nullptr || ledger_.Find(uid) != nullptr || deleting) {
    observer().OnSkipped(pod);
    if (runtime != nullptr && deleting) runtime->reporter().SkippedDeleting(pod);
    return queue_->Drop(uid);
  }
  runtime->set_current(uid);
  const SteadyTime began = loop_.clock().Steady();
  auto attempt = std::make_shared<Attempt>(Attempt{.pod = queued.pod,
                                                   .shape = ledger_.shapes().Of(queued.pod),
                                                   .profile = runtime->name(),
                                                   .attempts = queued.attempts,
                                                   .first_attempt = queued.first_attempt,
                                                   .queued = queued.timestamp,
                                                   .started = began});
  observer().OnStarted(*attempt);
  runtime->pipeline().BeginCycle(loop_.clock().Now());
  if (options_.extenders != nullptr && options_.extenders->AreInterestedIn(pod)) {
    return AskExtenders(*runtime, std::move(attempt));
  }
  const Decision decision = runtime->pipeline().Decide(pod, attempt->shape);
  OnDecided(*runtime, std::move(attempt), decision);
}

void Scheduler::OnDecided(Runtime& runtime, std::shared_ptr<Attempt> attempt,
                          const Decision& decision, const Extenders::Answer* extenders) {
  const SteadyTime decided = loop_.clock().Steady();
  const Duration took = decided - attempt->started;
  observer().OnPoint(CyclePoint::kFilter, *attempt, decision.verdict.code, took);
  observer().OnDecided(*attempt, runtime.pipeline(), decision, loop_.clock().Now(), took);
  attempt->point_started = decided;
  if (decision.placed()) return Place(runtime, std::move(attempt), decision.row);
  OnUnfit(runtime, std::move(attempt), decision, extenders);
}

// ---- A pod that extenders are asked about

void Scheduler::AskExtenders(Runtime& runtime, std::shared_ptr<Attempt> attempt) {
  Pipeline& pipeline = runtime.pipeline();
  ExtenderNodes nodes;
  for (const NodeRow row : pipeline.Candidates(*attempt->pod, attempt->shape)) {
    nodes.push_back(ledger_.nodes().shared_node(row));
  }
  if (nodes.empty()) {
    const Decision decision = pipeline.Decide(*attempt->pod, attempt->shape);
    return OnDecided(runtime, std::move(attempt), decision);
  }
  asking_ = true;
  const PodPtr pod = attempt->pod;
  options_.extenders->Ask(pod, std::move(nodes),
                          scope_.Wrap([this, &runtime, attempt = std::move(attempt)](
                                          StatusOr<Extenders::Answer> answer) mutable {
                            asking_ = false;
                            OnAnswered(runtime, std::move(attempt), std::move(answer));
                            Wake();
                          }));
}

void Scheduler::OnAnswered(Runtime& runtime, std::shared_ptr<Attempt> attempt,
                           StatusOr<Extenders::Answer> answer) {
  const auto fail = [&](std::string message) {
    Fail(runtime, *attempt, {Verdict::Error(message), message});
  };
  if (!answer.ok()) return fail(std::string(Message(answer.status())));
  if (!running_) {
    const std::string message = "the scheduler was stopped";
    return Fail(runtime, *attempt, {Verdict::Error(message), message, {}, std::nullopt});
  }
  if (!pending_.contains(attempt->pod->metadata.uid)) return fail("the pod is gone");
  std::vector<NodeRow> rows;
  Pipeline::Bonus bonus;
  for (const auto& node : answer->nodes) {
    const std::string& name = node->metadata.name;
    const auto row = ledger_.nodes().Find(name);
    if (!row) continue;
    rows.push_back(*row);
    if (const auto score = answer->scores.find(name); score != answer->scores.end()) {
      bonus.emplace(*row, score->second);
    }
  }
  runtime.pipeline().BeginCycle(loop_.clock().Now());
  const Decision decision =
      runtime.pipeline().DecideWithin(*attempt->pod, attempt->shape, rows, bonus);
  OnDecided(runtime, std::move(attempt), decision, &*answer);
}

std::vector<RowDiagnosis> Scheduler::WithRefused(std::span<const RowDiagnosis> rows,
                                                 const Extenders::Answer& extenders) {
  std::vector<RowDiagnosis> all(rows.begin(), rows.end());
  for (const ExtenderFilterResult::Refused& refused : extenders.refused) {
    const auto row = ledger_.nodes().Find(refused.node);
    if (!row || *row >= all.size() || !all[*row].verdict.ok()) continue;
    const ReasonId why = reasons_.Intern(refused.why);
    all[*row] = {kExtenderSlot, refused.unresolvable ? RowVerdict::Unresolvable(why)
                                                     : RowVerdict::Unschedulable(why)};
  }
  return all;
}

// ---- A pod with a node

void Scheduler::Place(Runtime& runtime, std::shared_ptr<Attempt> attempt, NodeRow row) {
  attempt->row = row;
  attempt->node = ledger_.nodes().name(row);
  if (const auto assumed = ledger_.Assume(attempt->pod, attempt->shape, row); !assumed.ok()) {
    const std::string message(Message(assumed.status()));
    return Fail(runtime, *attempt, {Verdict::Error(message), message});
  }
  const std::string promised(nominator_.NodeOf(attempt->pod->metadata.uid));
  nominator_.Remove(attempt->pod->metadata.uid);
  Verdict verdict = Reserve(runtime, *attempt);
  EndPoint(CyclePoint::kReserve, *attempt, verdict.code);
  std::vector<WaitingPods::Wait> waits;
  if (verdict.ok()) {
    verdict = Permit(runtime, *attempt, waits);
    EndPoint(CyclePoint::kPermit, *attempt, waits.empty() ? verdict.code : Code::kWait);
  }
  if (!verdict.ok()) {
    Unreserve(runtime, *attempt);
    ledger_.Forget(attempt->pod->metadata.uid);
    if (!promised.empty()) WakeAfterPromise(*attempt->pod);
    Failure failure{verdict, verdict.Message()};
    if (verdict.rejected()) {
      failure.message = fmt::format("0/1 nodes are available: 1 {}.", verdict.Message());
      failure.rejected_by = {{verdict.plugin, verdict.code == Code::kPending}};
    }
    return Fail(runtime, *attempt, std::move(failure));
  }
  if (!promised.empty() && promised != attempt->node) WakeAfterPromise(*attempt->pod);
  binding_.insert(attempt->pod->metadata.uid);
  if (waits.empty()) return Bind(runtime, std::move(attempt));
  Wait(runtime, std::move(attempt), std::move(waits));
}

void Scheduler::Wait(Runtime& runtime, std::shared_ptr<Attempt> attempt,
                     std::vector<WaitingPods::Wait> waits) {
  const Attempt& waiting = *attempt;
  observer().OnWaiting(waiting);
  const SteadyTime began = attempt->point_started;
  waiting_.Add(waiting, std::move(waits),
               scope_.Wrap([this, &runtime, began,
                            attempt = std::move(attempt)](const Verdict& verdict) mutable {
                 attempt->point_started = loop_.clock().Steady();
                 observer().OnWaited(*attempt, verdict, attempt->point_started - began);
                 if (verdict.ok()) return Bind(runtime, std::move(attempt));
                 OnBound(runtime, attempt, verdict);
               }));
}

Verdict Scheduler::Permit(Runtime& runtime, Attempt& attempt,
                          std::vector<WaitingPods::Wait>& waits) {
  for (PermitPlugin* plugin : runtime.plugins().permit) {
    PermitResult result = plugin->Permit(attempt);
    if (result.verdict.code == Code::kWait) {
      waits.push_back({std::string(plugin->name()), result.timeout});
    } else if (!result.verdict.ok()) {
      Verdict verdict = std::move(result.verdict);
      verdict.plugin = plugin->name();
      if (!verdict.rejected()) {
        verdict.reasons = {
            fmt::format("running Permit plugin \"{}\": {}", plugin->name(), verdict.Message())};
      }
      return verdict;
    }
  }
  return Verdict::Success();
}

Verdict Scheduler::Reserve(Runtime& runtime, Attempt& attempt) {
  for (ReservePlugin* plugin : runtime.plugins().reserve) {
    Verdict verdict = plugin->Reserve(attempt);
    if (verdict.ok()) continue;
    verdict.plugin = plugin->name();
    if (!verdict.rejected()) {
      verdict.reasons = {
          fmt::format("running Reserve plugin \"{}\": {}", plugin->name(), verdict.Message())};
    }
    return verdict;
  }
  return Verdict::Success();
}

void Scheduler::Unreserve(Runtime& runtime, Attempt& attempt) {
  const auto& plugins = runtime.plugins().reserve;
  for (auto plugin = plugins.rbegin(); plugin != plugins.rend(); ++plugin) {
    (*plugin)->Unreserve(attempt);
  }
}

Verdict Scheduler::StillWanted(const Attempt& attempt) const {
  if (!options_.may_write()) return Verdict::Error("this instance does not lead any more");
  if (!options_.check_owner_before_binding) return Verdict::Success();
  const auto now = pending_.find(attempt.pod->metadata.uid);
  if (now == pending_.end()) return Verdict::Success();  // the API server has the last word
  if ((*now)->spec.scheduler_name != attempt.profile) {
    return Verdict::Error("schedulerName unmatched");
  }
  if (IsBeingDeleted((*now)->metadata)) return Verdict::Error("pod is being deleted");
  return Verdict::Success();
}

void Scheduler::Bind(Runtime& runtime, std::shared_ptr<Attempt> attempt) {
  runtime.binding().Run(attempt, scope_.Wrap([this, &runtime, attempt](const Verdict& verdict) {
    OnBound(runtime, attempt, verdict);
  }));
}

void Scheduler::OnBound(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                        const Verdict& verdict) {
  const kube::Pod& pod = *attempt->pod;
  binding_.erase(pod.metadata.uid);
  if (api_is_behind_) Wake();
  if (verdict.ok()) {
    queue_->Done(pod.metadata.uid);
    GiveBackIfGone(attempt->pod);
    LOG_V(2, "Successfully bound pod to node", {"pod", NameOf(pod)}, {"node", attempt->node});
    runtime.reporter().Bound(pod, attempt->node);
    observer().OnBound(*attempt);
    observer().OnFinished(*attempt, AttemptResult::kScheduled);
    attempt->point_started = loop_.clock().Steady();
    for (PostBindPlugin* plugin : runtime.plugins().post_bind) plugin->PostBind(*attempt);
    EndPoint(CyclePoint::kPostBind, *attempt, Code::kSuccess);
    return TellDrained();
  }
  Unreserve(runtime, *attempt);
  // A binding whose answer was lost may have happened: what the watch has shown stays.
  if (ledger_.Forget(pod.metadata.uid)) {
    queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = attempt->pod},
                    {.except_uid = verdict.rejected() ? pod.metadata.uid : ""});
  }
  Failure failure{verdict, verdict.Message()};
  const auto& permits = runtime.plugins().permit;
  const bool by_permit = std::ranges::any_of(
      permits, [&](const PermitPlugin* plugin) { return plugin->name() == verdict.plugin; });
  if (verdict.rejected() && by_permit) {
    failure.message = fmt::format("0/1 nodes are available: 1 {}.", verdict.Message());
    failure.rejected_by = {{verdict.plugin, verdict.code == Code::kPending}};
  }
  Fail(runtime, *attempt, std::move(failure));
  TellDrained();
}

void Scheduler::GiveBackIfGone(const PodPtr& pod) {
  const std::string& uid = pod->metadata.uid;
  if (pending_.contains(uid) || !ledger_.Forget(uid)) return;
  queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = pod});
}

// ---- A pod without

bool Scheduler::AskToEvict(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                           const Decision& decision, const Extenders::Answer* extenders,
                           const Diagnosis& diagnosis) {
  if (options_.extenders == nullptr || !options_.extenders->HaveASayInEvictionsFor(*attempt->pod)) {
    return false;
  }
  PodQuery& query = runtime.pipeline().QueryFor(attempt->shape).query();
  for (PostFilterPlugin* plugin : runtime.plugins().post_filter) {
    std::vector<EvictionPlan> plans = plugin->Plans(*attempt, query, diagnosis);
    if (plans.empty()) continue;
    asking_ = true;
    auto said = extenders == nullptr ? std::optional<Extenders::Answer>() : *extenders;
    options_.extenders->AskToEvict(
        attempt->pod, std::move(plans),
        [this](std::string_view node, std::string_view uid) {
          const PodInfo* pod = ledger_.Find(uid);
          const auto row = ledger_.nodes().Find(node);
          return pod != nullptr && row == pod->row ? pod->pod : nullptr;
        },
        scope_.Wrap([this, &runtime, attempt, decision, plugin,
                     said = std::move(said)](StatusOr<std::vector<EvictionPlan>> left) {
          asking_ = false;
          const Agreed agreed{plugin, std::move(left)};
          OnUnfit(runtime, attempt, decision, said ? &*said : nullptr, &agreed);
          Wake();
        }));
    return true;
  }
  return false;
}

PostFilterResult Scheduler::RunPostFilter(PostFilterPlugin& plugin, Runtime& runtime,
                                          Attempt& attempt, const Diagnosis& diagnosis,
                                          const Agreed* agreed) {
  if (agreed == nullptr || agreed->plugin != &plugin) {
    PodQuery& query = runtime.pipeline().QueryFor(attempt.shape).query();
    return plugin.PostFilter(attempt, query, diagnosis);
  }
  if (!agreed->plans.ok()) return {Verdict::Error(std::string(Message(agreed->plans.status())))};
  // Nobody is evicted for a pod that is gone, nor by a scheduler that does not lead any more.
  if (!running_ || !pending_.contains(attempt.pod->metadata.uid)) {
    return {Verdict::Unschedulable("")};
  }
  return plugin.Choose(attempt, *agreed->plans);
}

void Scheduler::OnUnfit(Runtime& runtime, std::shared_ptr<Attempt> attempt,
                        const Decision& decision, const Extenders::Answer* extenders,
                        const Agreed* agreed) {
  if (!decision.verdict.rejected()) {
    return Fail(runtime, *attempt, {decision.verdict, decision.verdict.Message()});
  }
  if (decision.no_nodes) {
    return Fail(runtime, *attempt, {decision.verdict, decision.verdict.Message()});
  }
  Diagnosis diagnosis = runtime.pipeline().Diagnose(*attempt->pod, attempt->shape);
  std::vector<RowDiagnosis> with_refused;
  if (extenders != nullptr) {
    with_refused = WithRefused(diagnosis.rows, *extenders);
    diagnosis.rows = with_refused;
    diagnosis.explicit_rows = static_cast<size_t>(std::ranges::count_if(
        with_refused, [](const RowDiagnosis& row) { return !row.verdict.ok(); }));
  }
  Failure failure{decision.verdict, "", {}, std::nullopt};
  if (diagnosis.pre_filter.rejected()) {
    failure.rejected_by.push_back(
        {diagnosis.pre_filter.plugin, diagnosis.pre_filter.code == Code::kPending});
  } else {
    std::set<uint32_t> slots;
    for (const RowDiagnosis& row : diagnosis.rows) {
      if (row.verdict.code == Code::kError) {
        const std::string message = fmt::format("running \"{}\" filter plugin: {}",
                                                runtime.plugins().plugins[row.plugin]->name(),
                                                reasons_.TextOf(row.verdict.reasons.front()));
        return Fail(runtime, *attempt, {Verdict::Error(message), message});
      }
      if (!row.verdict.ok()) slots.insert(row.plugin);
    }
    if (extenders != nullptr && extenders->narrowed) slots.insert(kExtenderSlot);
    for (const uint32_t slot : slots) {
      failure.rejected_by.push_back({std::string(runtime.plugins().NameOfSlot(slot))});
    }
  }
  if (agreed == nullptr && AskToEvict(runtime, attempt, decision, extenders, diagnosis)) return;
  attempt->point_started = loop_.clock().Steady();
  Code post_filter = Code::kUnschedulable;
  std::vector<std::string> post_filter_messages;
  for (PostFilterPlugin* plugin : runtime.plugins().post_filter) {
    PostFilterResult result = RunPostFilter(*plugin, runtime, *attempt, diagnosis, agreed);
    if (result.nominated_node) failure.nominated_node = std::move(result.nominated_node);
    if (!result.verdict.ok() && !result.verdict.Message().empty()) {
      post_filter_messages.push_back(result.verdict.Message());
    }
    post_filter = result.verdict.code;
    if (post_filter != Code::kUnschedulable) break;
  }
  if (!runtime.plugins().post_filter.empty()) {
    EndPoint(CyclePoint::kPostFilter, *attempt, post_filter);
  }
  const PostFilterOutcome outcome{
      .message = fmt::format("{}", fmt::join(post_filter_messages, ", ")),
      .nominated_node = failure.nominated_node.value_or("")};
  observer().OnUnfit(*attempt, runtime.pipeline(), diagnosis, outcome);
  failure.message = FitErrorMessage(diagnosis, reasons_, outcome.message);
  Fail(runtime, *attempt, std::move(failure));
}

void Scheduler::Fail(Runtime& runtime, const Attempt& attempt, Failure failure) {
  const std::string& uid = attempt.pod->metadata.uid;
  const bool rejected = failure.verdict.rejected();
  LOG_V(2, rejected ? "Unable to schedule pod; waiting" : "Error scheduling pod; retrying",
        {"pod", NameOf(*attempt.pod)}, {"err", failure.message});
  observer().OnFinished(attempt, rejected ? AttemptResult::kUnschedulable : AttemptResult::kError);
  queue_->Return(uid, {std::move(failure.rejected_by), failure.message});
  const auto pod = pending_.find(uid);
  if (pod == pending_.end()) return;  // it is gone, or has a node
  const PodPtr current = *pod;
  if (failure.nominated_node && nominator_.Nominate(current, *failure.nominated_node)) {
    WakeAfterPromise(*current);
  }
  if (!options_.may_write()) return;
  runtime.reporter().Failed(*current, {.rejected = rejected,
                                       .message = std::move(failure.message),
                                       .nominated_node = std::move(failure.nominated_node)});
}

}  // namespace koord::scheduler
