#include "scheduler/bench/core_driver.h"

#include <set>

#include "model/reservation/reservation_state.h"
#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/config/expand_plugins.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/registry/plugin_registry.h"

namespace koord::scheduler {

CoreDriver::CoreDriver()
    : nominations_(ledger_, [](const kube::Pod&) { return true; }), order_(ledger_) {}

StatusOr<std::unique_ptr<CoreDriver>> CoreDriver::Make(std::string_view configuration,
                                                       uint64_t seed) {
  ASSIGN_OR_RETURN(const LoadedConfiguration loaded, LoadConfiguration(configuration, "benchmark"));
  ASSIGN_OR_RETURN(const ExpandedPlugins expanded,
                   ExpandPlugins(loaded.configuration, BuiltInPlugins()));
  auto driver = std::unique_ptr<CoreDriver>(new CoreDriver);
  driver->random_ = Random(seed);
  const PluginContext context{.ledger = driver->ledger_,
                              .books = driver->books_,
                              .objects = driver->objects_,
                              .reasons = driver->reasons_,
                              .loop = driver->loop_,
                              .random = driver->random_,
                              .handle = driver.get(),
                              .pending = &driver->pending_,
                              .profile = ""};
  ASSIGN_OR_RETURN(driver->lineup_,
                   MakeLineup(loaded.configuration.profiles.front(), expanded.profiles.front(),
                              loaded.configuration.percentage_of_nodes_to_score, context));
  for (ReservePlugin* plugin : driver->lineup_.reserve) {
    const std::string_view name = plugin->name();
    if (name == "Reservation" || name == "NodeNUMAResource" || name == "DeviceShare") {
      driver->giving_.push_back(plugin);
    }
  }
  driver->tells_pending_ = driver->objects_.elastic_quotas.needed();
  driver->pipeline_ =
      std::make_unique<Pipeline>(driver->lineup_, driver->ledger_, driver->nominations_.rows(),
                                 driver->order_, driver->random_);
  QueueProfile profile{.name = driver->lineup_.name, .pre_enqueue = driver->lineup_.pre_enqueue};
  for (const auto& plugin : driver->lineup_.plugins) {
    if (auto* requeue = dynamic_cast<RequeuePlugin*>(plugin.get())) {
      profile.requeue.emplace(plugin->name(), requeue);
    }
  }
  profile.probe = driver->pipeline_.get();
  std::vector<QueueProfile> profiles;
  profiles.push_back(std::move(profile));
  driver->queue_ = std::make_unique<SchedulingQueue>(driver->loop_, *driver->lineup_.queue_sort,
                                                     std::move(profiles));
  return driver;
}

void CoreDriver::Add(std::shared_ptr<const kube::Pod> pod) {
  if (tells_pending_) pending_.Set(pod);
  queue_->Add(std::move(pod));
}

bool CoreDriver::TryNext() {
  const auto queued = queue_->Pop();
  if (!queued) return false;
  const kube::Pod& pod = *queued->pod;
  current_uid_ = pod.metadata.uid;
  ShapePtr shape = ledger_.shapes().Of(queued->pod);
  pipeline_->BeginCycle(loop_.clock().Now());
  const Decision decision = pipeline_->Decide(pod, shape);
  Attempt attempt{
      .pod = queued->pod, .shape = std::move(shape), .profile = lineup_.name, .row = decision.row};
  if (decision.placed() && Place(attempt)) return true;
  OnUnfit(attempt);
  loop_.RunReady();
  return true;
}

// What a pod is given beyond amounts is decided and charged as well.
bool CoreDriver::Place(Attempt& attempt) {
  attempt.states.resize(lineup_.plugins.size());
  for (ReservePlugin* plugin : giving_) {
    if (!plugin->Reserve(attempt).ok()) return false;
  }
  nominations_.Take(current_uid_);
  (void)ledger_.Assume(attempt.pod, attempt.shape, attempt.row, std::move(attempt.held));
  if (tells_pending_) pending_.SetBound(attempt.pod, false);
  queue_->Done(current_uid_);
  ++bound_;
  return true;
}

void CoreDriver::TryAll() {
  while (TryNext()) {
  }
}

void CoreDriver::DeletePod(std::string_view uid) {
  const PodInfo* known = ledger_.Find(uid);
  if (known == nullptr) return;
  const std::shared_ptr<const kube::Pod> pod = known->pod;
  ledger_.RemovePod(uid);
  queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = pod});
}

void CoreDriver::SetMetric(std::shared_ptr<const api::NodeMetric> metric) {
  objects_.node_metrics.Set(std::move(metric));
  queue_->OnEvent({.kind = EventKind::kNodeMetricChanged});
}

void CoreDriver::SetReservation(std::shared_ptr<const api::Reservation> reservation) {
  ClusterEvent event{.kind = EventKind::kReservationChanged, .reservation_after = reservation};
  const auto& known = objects_.reservations.objects();
  if (const auto at = known.find(KeyOf(reservation->metadata)); at != known.end()) {
    event.reservation_before = at->second;
  }
  objects_.reservations.Set(reservation);
  if (model::IsActive(*reservation)) {
    ledger_.SetPod(MakeReservePod(*reservation, lineup_.name));
  } else if (model::HasEnded(*reservation)) {
    ledger_.RemovePod(reservation->metadata.uid);
  }
  queue_->OnEvent(event);
}

void CoreDriver::RemoveReservation(const std::string& name) {
  const kube::ObjectKey key{"", name};
  const auto before = objects_.reservations.objects().at(key);
  objects_.reservations.Remove(key);
  ledger_.RemovePod(before->metadata.uid);
  queue_->OnEvent({.kind = EventKind::kReservationChanged, .reservation_before = before});
}

void CoreDriver::OnUnfit(Attempt& attempt) {
  const Diagnosis diagnosis = pipeline_->Diagnose(*attempt.pod, attempt.shape);
  if (diagnosis.pre_filter.rejected()) return OnRefused(attempt, diagnosis);
  const KnownUnfit* known = pipeline_->KnownUnfitOf(*attempt.pod, attempt.shape);
  const std::optional<KnownUnfit> found =
      known == nullptr ? std::optional(FindOut(attempt, diagnosis)) : std::nullopt;
  if (known == nullptr) known = &*found;
  AttemptFailure failure{.message = known->message};
  for (const uint32_t slot : known->rejectors) {
    failure.rejected_by.push_back({std::string(lineup_.NameOfSlot(slot))});
  }
  if (nominations_.NodeOf(current_uid_).empty()) failure.unfit = pipeline_->UnfitNow(attempt.shape);
  queue_->Return(current_uid_, failure);
}

// Whatever the nodes look like.
void CoreDriver::OnRefused(Attempt& attempt, const Diagnosis& diagnosis) {
  const KnownUnfit found = FindOut(attempt, diagnosis);
  for (AfterPostFilterPlugin* plugin : lineup_.after_post_filter) {
    plugin->AfterPostFilter(attempt, diagnosis, {});
  }
  queue_->Return(current_uid_,
                 {.rejected_by = {{diagnosis.pre_filter.plugin}}, .message = found.message});
}

KnownUnfit CoreDriver::FindOut(Attempt& attempt, const Diagnosis& diagnosis) {
  CompiledQuery& query = pipeline_->QueryFor(attempt.shape);
  KnownUnfit found;
  std::set<uint32_t> slots;
  for (const auto& [why, rows] : diagnosis.rows.kinds()) {
    if (rows > 0 && !why.verdict.ok()) slots.insert(why.plugin);
  }
  found.rejectors.assign(slots.begin(), slots.end());
  bool of_shape = nominations_.NodeOf(current_uid_).empty();
  for (PostFilterPlugin* plugin : lineup_.post_filter) {
    PostFilterResult result = plugin->PostFilter(attempt, query.query(), diagnosis);
    if (result.nominated_node) nominations_.Nominate(attempt.pod, *result.nominated_node);
    of_shape = of_shape && result.of_shape;
    found.post_filter = result.verdict.Message();
    if (result.verdict.code != Code::kUnschedulable) break;
  }
  found.message = FitErrorMessage(diagnosis, reasons_, found.post_filter);
  if (of_shape && !diagnosis.pre_filter.rejected()) query.SetKnownUnfit(found);
  return found;
}

RowVerdict CoreDriver::CheckRow(PodQuery& query, const RowView& row) {
  return pipeline_->QueryFor(query.shared_shape()).Check(row, current_uid_, nullptr);
}

const RowNeeds* CoreDriver::NeedsOf(PodQuery& query) {
  return pipeline_->QueryFor(query.shared_shape()).Needs(current_uid_);
}

uint64_t CoreDriver::RowsVersion(PodQuery& query) {
  return pipeline_->QueryFor(query.shared_shape()).RowsVersion();
}

void CoreDriver::Preempt(const Attempt&, const std::string&,
                         std::vector<std::shared_ptr<const kube::Pod>> victims, PreemptDone done) {
  evicted_ += victims.size();
  loop_.Post([this, victims = std::move(victims), done = std::move(done)]() mutable {
    for (const auto& victim : victims) ledger_.RemovePod(victim->metadata.uid);
    done(true);
  });
}

std::vector<std::shared_ptr<const kube::Pod>> CoreDriver::NominatedTo(std::string_view node) {
  const auto pods = nominations_.On(node);
  return {pods.begin(), pods.end()};
}

std::string CoreDriver::NominatedNodeOf(const kube::Pod& pod) {
  return std::string(nominations_.NodeOf(pod.metadata.uid));
}

}  // namespace koord::scheduler
