#include "scheduler/reference/core_bed.h"

#include "scheduler/cluster/reserve_pod.h"

#include "scheduler/config/load_configuration.h"
#include "scheduler/registry/plugin_registry.h"

namespace koord::scheduler::reference {

CoreBed::CoreBed() : nominations_(ledger, [](const kube::Pod&) { return true; }), order_(ledger) {}

StatusOr<std::unique_ptr<CoreBed>> CoreBed::Make(std::string_view configuration, uint64_t seed) {
  ASSIGN_OR_RETURN(LoadedConfiguration loaded, LoadConfiguration(configuration, "test"));
  ASSIGN_OR_RETURN(ExpandedPlugins expanded, ExpandPlugins(loaded.configuration, BuiltInPlugins()));
  auto bed = std::unique_ptr<CoreBed>(new CoreBed);
  bed->random_ = Random(seed);
  bed->profile = std::move(loaded.configuration.profiles.front());
  bed->plugins = std::move(expanded.profiles.front());
  const PluginContext context{.ledger = bed->ledger,
                              .books = bed->books,
                              .objects = bed->objects,
                              .reasons = bed->reasons,
                              .loop = bed->loop,
                              .random = bed->random_,
                              .handle = bed.get(),
                              .profile = ""};
  ASSIGN_OR_RETURN(bed->lineup_, MakeLineup(bed->profile, bed->plugins, 0, context));
  // Few shapes are kept, so that some are forgotten.
  bed->pipeline_ = std::make_unique<Pipeline>(bed->lineup_, bed->ledger, bed->nominations_.rows(),
                                              bed->order_, bed->random_, 6);
  return bed;
}

Decision CoreBed::Decide(const PodPtr& pod) {
  current_uid_ = pod->metadata.uid;
  const ShapePtr shape = ledger.shapes().Of(pod);
  pipeline_->BeginCycle(loop.clock().Now());
  return pipeline_->Decide(*pod, shape);
}

void CoreBed::SetReservation(std::shared_ptr<const api::Reservation> reservation) {
  objects.reservations.Set(reservation);
  const std::string& uid = reservation->metadata.uid;
  if (reservation->status.phase == api::kReservationAvailable) {
    ledger.SetPod(MakeReservePod(*reservation, profile.scheduler_name));
  } else if (const PodInfo* known = ledger.Find(uid); known != nullptr && !known->assumed) {
    ledger.RemovePod(uid);
  }
}

void CoreBed::RemoveReservation(const std::string& name) {
  const std::string uid = objects.reservations.Find(name)->metadata.uid;
  objects.reservations.Remove({"", name});
  ledger.RemovePod(uid);
}

StatusOr<std::unique_ptr<Holdings>> CoreBed::Reserve(const PodPtr& pod, NodeRow row) {
  Attempt attempt{.pod = pod,
                  .shape = ledger.shapes().Of(pod),
                  .profile = lineup_.name,
                  .row = row,
                  .node = ledger.nodes().name(row)};
  for (ReservePlugin* plugin : lineup_.reserve) {
    // The others give nothing, and what they keep in mind is not looked at here.
    if (plugin->name() != "Reservation") continue;
    const Verdict verdict = plugin->Reserve(attempt);
    if (!verdict.ok()) return FailedPrecondition("{}", verdict.Message());
  }
  return std::move(attempt.held);
}

CompiledQuery& CoreBed::QueryFor(const PodPtr& pod) {
  return pipeline_->QueryFor(ledger.shapes().Of(pod));
}

Diagnosis CoreBed::Diagnose(const PodPtr& pod) {
  return pipeline_->Diagnose(*pod, ledger.shapes().Of(pod));
}

Pipeline::Ranking CoreBed::Rank(const PodPtr& pod) {
  return pipeline_->Rank(*pod, ledger.shapes().Of(pod), ledger.nodes().rows());
}

CoreBed::Evictions CoreBed::PostFilter(const PodPtr& pod, const Diagnosis& diagnosis) {
  evictions_ = {};
  Attempt attempt{.pod = pod, .shape = ledger.shapes().Of(pod), .profile = lineup_.name};
  PodQuery& query = pipeline_->QueryFor(attempt.shape).query();
  for (PostFilterPlugin* plugin : lineup_.post_filter) {
    PostFilterResult result = plugin->PostFilter(attempt, query, diagnosis);
    const std::string message = result.verdict.Message();
    if (result.nominated_node) evictions_.nominated = result.nominated_node;
    if (result.verdict.ok()) evictions_.message.clear();
    if (!evictions_.message.empty() && !message.empty()) evictions_.message += ", ";
    evictions_.message += message;
    if (result.verdict.code != Code::kUnschedulable) break;
  }
  return evictions_;
}

RowVerdict CoreBed::CheckRow(PodQuery& query, const RowView& row) {
  return pipeline_->QueryFor(query.shared_shape()).Check(row, current_uid_, nullptr);
}

const RowNeeds* CoreBed::NeedsOf(PodQuery& query) {
  return pipeline_->QueryFor(query.shared_shape()).Needs(current_uid_);
}

uint64_t CoreBed::RowsVersion(PodQuery& query) {
  return pipeline_->QueryFor(query.shared_shape()).RowsVersion();
}

void CoreBed::Preempt(const Attempt&, const std::string& node, std::vector<PodPtr> victims,
                      PreemptDone done) {
  evictions_.node = node;
  for (const PodPtr& victim : victims) evictions_.victims.insert(victim->metadata.uid);
  done(true);
}

std::vector<CoreBed::PodPtr> CoreBed::NominatedTo(std::string_view node) {
  const auto pods = nominations_.On(node);
  return {pods.begin(), pods.end()};
}

}  // namespace koord::scheduler::reference
