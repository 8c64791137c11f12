#include "scheduler/plugins/reservation/reservation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_state.h"
#include "scheduler/framework/short_note.h"
#include "scheduler/pipeline/pipeline.h"
#include "scheduler/plugins/reservation/messages.h"
#include "scheduler/plugins/reservation/words.h"
#include "scheduler/reservation_controller/reservation_controller.h"

namespace koord::scheduler {
namespace {

// Nearly all pods say nothing of reservations.
bool SaysAnything(const kube::ObjectMeta& pod) {
  return pod.labels.contains(api::kLabelReservationIgnored) ||
         pod.labels.contains(api::kLabelReservation) ||
         pod.annotations.contains(api::kAnnotationReservationAffinity) ||
         pod.annotations.contains(api::kAnnotationExactMatchReservation);
}

// Null: nobody asks.
IsIgnoredResource IgnoredBy(const ReservationArgs& args) {
  if (args.ignored_resources.empty() && args.ignored_resource_groups.empty()) return nullptr;
  return [&args](std::string_view name) { return args.Ignores(name); };
}

// What one attempt draws from.
struct Drawn final : AttemptState {
  Holdings::Reservation from;
  bool is_pod = false;
  std::string ns;  // of such a pod
  bool is_marked = false;
};

// What one attempt to place a reservation takes over.
struct TakenOver final : AttemptState {
  Adoption::Pods pods;
  bool is_told = false;
};

bool IsPreAllocating(const PodShape& shape) {
  return shape.named && IsReservePod(*shape.sample) &&
         shape.sample->metadata.annotations.contains(api::kAnnotationIsPreAllocation);
}

}  // namespace

// What the plugin knows of a shape.
struct ReservationPlugin::State final : PluginState {
  State(ReservationPlugin& plugin, const PodShape& shape) : plugin(plugin), shape(shape.id) {
    plugin.states_[this->shape].push_back(this);
  }
  ~State() override {
    const auto at = plugin.states_.find(shape);
    std::erase(at->second, this);
    if (at->second.empty()) plugin.states_.erase(at);
  }

  ReservationPlugin& plugin;
  const uint32_t shape;
  Neighbours::Asks asks;
  Status problem;                                 // with what pods say of reservations
  std::unique_ptr<Seeker> seeker;                 // null: they may use none
  std::unique_ptr<PreAllocation> pre_allocation;  // of a reservation that is placed over pods
  ReasonHold texts;
};

ReservationPlugin::ReservationPlugin(const PluginContext& context, const ReservationArgs& args)
    : context_(context),
      args_(args),
      match_options_{.omit_node_labels = context.Enabled("OmitNodeLabelsForReservation")},
      offers_(std::make_shared<Offers>(context)),
      selector_index_(args.reservation_selector_index.value_or(ReservationSelectorIndexArgs()),
                      *offers_, context.metrics),
      neighbours_(context.nodes(), *offers_, context.reasons),
      choice_(context.ledger, context.reasons, *context.trials,
              {.is_ignored = IgnoredBy(args_),
               .skip_fits_node = context.Enabled("SkipReservationFitsNode")}),
      binder_(context),
      consumption_(context),
      adoption_(context) {
  context.trials->SetRooms(*this);
  if (args.enable_preemption) {
    preemption_.emplace(context, eviction_rules_,
                        CandidateCount{.percent = args.min_candidate_nodes_percentage,
                                       .at_least = args.min_candidate_nodes_absolute});
  }
  if (context.leader_parts == nullptr) return;
  ReservationController::AddTo(
      context,
      {.args = args, .clean_allocated = context.Enabled("CleanExpiredReservationAllocated")});
}

ReservationPlugin::~ReservationPlugin() = default;

// ---- Shapes

std::unique_ptr<PluginState> ReservationPlugin::Compile(const PodShape& shape) {
  const Neighbours::Asks asks = Neighbours::Of(shape);
  const kube::Pod& sample = *shape.sample;
  const bool seeks =
      !IsReservePod(sample) && (offers_->any_ever() || SaysAnything(sample.metadata));
  if (!asks.any && !seeks) return nullptr;
  auto state = std::make_unique<State>(*this, shape);
  state->asks = asks;
  if (IsPreAllocating(shape)) state->pre_allocation = PreAllocationOf(shape);
  if (!seeks) return state;
  auto terms = model::ReservationSeeker::Of(sample);
  state->problem = terms.status();
  if (!terms.ok()) return state;
  state->seeker = std::make_unique<Seeker>(
      shape, *std::move(terms),
      Seeker::Context{.offers = offers_,
                      .nodes = context_.ledger.nodes(),
                      .resources = context_.ledger.resources(),
                      .options = match_options_,
                      .found_first = [this](uint32_t id) { ++first_found_[id]; },
                      .forget_first =
                          [this](uint32_t id) {
                            const auto at = first_found_.find(id);
                            if (--at->second == 0) first_found_.erase(at);
                          }});
  return state;
}

std::unique_ptr<PreAllocation> ReservationPlugin::PreAllocationOf(const PodShape& shape) const {
  const Holdings::Reservation of = ReservedBy(*shape.sample);
  const api::Reservation* reservation = context_.objects.reservations.Find(of.name);
  if (reservation == nullptr || reservation->metadata.uid != of.uid) return nullptr;
  return std::make_unique<PreAllocation>(
      shape, *reservation,
      PreAllocation::Context{
          .nodes = context_.nodes(),
          .resources = context_.ledger.resources(),
          .reasons = context_.reasons,
          .match = match_options_,
          .settings = args_.pre_allocation_config.value_or(PreAllocationConfig())});
}

// A shape that was left out because nothing was reserved for it comes back when something is. That
// nothing is any more does not matter: it will be again.
uint64_t ReservationPlugin::VersionFor(const PodShape& shape) const {
  if (shape.named && IsPreAllocating(shape)) return context_.objects.reservations.version();
  if (!offers_->any_ever()) return 0;
  return !first_found_.empty() && first_found_.contains(shape.id) ? 2 : 1;
}

ReservationPlugin::State* ReservationPlugin::StateOf(const PodQuery& query) const {
  return query.has_state(slot()) ? &query.state<State>(slot()) : nullptr;
}

Seeker* ReservationPlugin::SeekerOf(const PodQuery& query) const {
  const State* const state = StateOf(query);
  return state == nullptr ? nullptr : state->seeker.get();
}

const Seeker* ReservationPlugin::SeekerOf(uint32_t shape) const {
  if (states_.empty()) return nullptr;
  const auto at = states_.find(shape);
  return at == states_.end() ? nullptr : at->second.front()->seeker.get();
}

// ---- Which nodes

PreFilterResult ReservationPlugin::PreFilter(PodQuery& query) {
  const State* const state = StateOf(query);
  if (state == nullptr) return PreFilterResult::Skip();
  if (!state->problem.ok()) return {Verdict::Error(std::string(Message(state->problem)))};
  const Seeker* const seeker = state->seeker.get();
  if (seeker != nullptr && seeker->limit() != nullptr) {
    PreFilterResult result;
    result.rows = seeker->limit();
    return result;
  }
  const bool has_say = state->asks.any || (seeker != nullptr && seeker->is_served());
  return has_say ? PreFilterResult::Success() : PreFilterResult::Skip();
}

Verdict ReservationPlugin::Admit(const kube::Pod& pod, const PodQuery& query) {
  const State* const state = StateOf(query);
  if (state == nullptr) return Verdict::Success();
  if (IsReservePod(pod)) return AdmitReservation(pod, *state);
  const Seeker* const seeker = state->seeker.get();
  if (seeker == nullptr || seeker->limit() == nullptr) return Verdict::Success();
  selector_index_.Count(seeker->terms().affinity->reservation_selector);
  if (seeker->limit()->size() == 0) {
    return Verdict::Unresolvable(std::string(kNoReservationMatches));
  }
  return Verdict::Success();
}

Verdict ReservationPlugin::AdmitReservation(const kube::Pod& reserve_pod,
                                            const State& state) const {
  const std::string name = ReservedBy(reserve_pod).name;
  const api::Reservation* reservation = context_.objects.reservations.Find(name);
  if (reservation == nullptr || reservation->metadata.uid != reserve_pod.metadata.uid) {
    return Verdict::Error(fmt::format(
        "cannot get reservation, err: reservation.scheduling.koordinator.sh \"{}\" not found",
        name));
  }
  const Status valid = api::Validate(reservation->spec);
  if (!valid.ok()) return Verdict::Error(std::string(Message(valid)));
  PreAllocation* const over = state.pre_allocation.get();
  if (over == nullptr) return Verdict::Success();
  if (!over->problem().empty()) return Verdict::Unresolvable(over->problem());
  if (over->is_required() && !over->HasCandidates()) {
    return Verdict::Unresolvable(std::string(kNoPodToTake));
  }
  return Verdict::Success();
}

void ReservationPlugin::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  State* const state = StateOf(query);
  if (state == nullptr) return;
  neighbours_.Filter(state->asks, rows, keep);
  if (PreAllocation* const over = state->pre_allocation.get()) {
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      uint8_t& kept = keep[row - rows.begin];
      if (kept && !over->Check({row, nullptr}, state->texts).ok()) kept = 0;
    }
  }
  const Seeker* const seeker = state->seeker.get();
  if (seeker == nullptr) return;
  const auto narrow = [&](NodeRow row) {
    uint8_t& kept = keep[row - rows.begin];
    if (kept && !choice_.Check(*seeker, {row, nullptr}, state->texts).ok()) kept = 0;
  };
  if (rows.size() == 1 || seeker->has_affinity()) {
    for (NodeRow row = rows.begin; row < rows.end; ++row) narrow(row);
    return;
  }
  for (const NodeRow row : seeker->transformed()) {
    if (row >= rows.begin && row < rows.end) narrow(row);
  }
}

RowVerdict ReservationPlugin::Check(const PodQuery& query, const RowView& row) {
  State* const state = StateOf(query);
  if (state == nullptr) return {};
  RowVerdict verdict = neighbours_.Check(state->asks, row.row);
  if (verdict.ok() && state->pre_allocation != nullptr) {
    verdict = state->pre_allocation->Check(row, state->texts);
  }
  if (!verdict.ok() || state->seeker == nullptr) return verdict;
  return choice_.Check(*state->seeker, row, state->texts);
}

FilterPlugin::PodsRead ReservationPlugin::Reads(const PodQuery& query) {
  return StateOf(query) == nullptr ? PodsRead::kNone : PodsRead::kAny;
}

std::span<const NodeRow> ReservationPlugin::TransformedRows(const PodQuery& query) {
  const State* const state = StateOf(query);
  if (state == nullptr) return {};
  if (state->pre_allocation != nullptr) return state->pre_allocation->rows();
  return state->seeker == nullptr ? std::span<const NodeRow>() : state->seeker->transformed();
}

const RowDelta* ReservationPlugin::DeltaOf(const PodQuery& query, NodeRow row) {
  const State* const state = StateOf(query);
  if (state == nullptr) return nullptr;
  if (state->pre_allocation != nullptr) return state->pre_allocation->DeltaOf(row);
  if (state->seeker == nullptr) return nullptr;
  const Seeker::Row* const of_row = state->seeker->Find(row);
  return of_row == nullptr || of_row->matches == 0 ? nullptr : &of_row->delta;
}

FilterTransformer::AbsentPods ReservationPlugin::Absent(const PodQuery& query) {
  Seeker* const seeker = SeekerOf(query);
  return seeker == nullptr ? AbsentPods() : seeker->Absent();
}

// ---- When no node is left

PostFilterResult ReservationPlugin::PostFilter(Attempt& attempt, PodQuery& query,
                                               const Diagnosis& diagnosis) {
  PostFilterResult result{.verdict = Verdict::Unschedulable(""), .of_shape = true};
  result.verdict.reasons.clear();
  if (preemption_) result = preemption_->Run(attempt, query, diagnosis);
  if (result.verdict.code != Code::kUnschedulable) return result;
  if (const Seeker* const seeker = SeekerOf(query)) {
    std::ranges::move(
        ReservationReasons(*seeker, InspectedFor(*seeker), diagnosis, context_.reasons),
        std::back_inserter(result.verdict.reasons));
  }
  return result;
}

InspectedNodes ReservationPlugin::InspectedFor(const Seeker& seeker) const {
  const std::string_view name = seeker.terms().wanted_name();
  if (name.empty()) return {};
  const api::Reservation* const named = context_.objects.reservations.Find(name);
  if (named != nullptr && !named->status.node_name.empty()) {
    return {.all = false, .only = context_.nodes().Find(named->status.node_name)};
  }
  const Offer* const acting = offers_->FindByName(name);
  if (acting == nullptr || acting->row() == kNoRow) return {};
  return {.all = false, .only = acting->row()};
}

bool ReservationPlugin::MightHelp(const PodShape& shape, NodeRow row, Code code) const {
  return preemption_ && preemption_->MightHelp(shape, row, code);
}

std::vector<EvictionPlan> ReservationPlugin::Plans(const Attempt& attempt, PodQuery& query,
                                                   const Diagnosis& diagnosis) {
  if (!preemption_) return {};
  return preemption_->Plans(attempt, query, diagnosis);
}

PostFilterResult ReservationPlugin::Choose(const Attempt& attempt,
                                           const std::vector<EvictionPlan>& plans) {
  if (!preemption_) return {Verdict::Unschedulable("")};
  return preemption_->Choose(attempt, plans);
}

// Pods that must use a reservation are told of those apart.
void ReservationPlugin::AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                                        const PostFilterResult& result) {
  const kube::ObjectMeta& pod = attempt.pod->metadata;
  if (context_.recorder == nullptr ||
      !pod.annotations.contains(api::kAnnotationReservationAffinity)) {
    return;
  }
  auto text =
      ReservationEventText(FitErrorMessage(diagnosis, context_.reasons, result.verdict.Message()));
  if (!text) return;
  context_.recorder->Record({.regarding = {.kind = "Pod",
                                           .ns = pod.ns,
                                           .name = pod.name,
                                           .uid = pod.uid,
                                           .api_version = "v1",
                                           .resource_version = pod.resource_version},
                             .type = "Warning",
                             .reason = "FailedScheduling-Reservation",
                             .action = "Scheduling",
                             .message = ShortenNote(*std::move(text))});
}

// ---- Which node

Verdict ReservationPlugin::PreScore(PodQuery& query, std::span<const uint8_t>) {
  if (const State* const state = StateOf(query); state != nullptr && state->pre_allocation) {
    return state->pre_allocation->takes_several() ? Verdict::Skip() : Verdict::Success();
  }
  const Seeker* const seeker = SeekerOf(query);
  if (seeker == nullptr || seeker->ignores_all() || !seeker->is_served()) return Verdict::Skip();
  return Verdict::Success();
}

void ReservationPlugin::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const auto score = [&](NodeRow row) {
    scores[row - rows.begin] = ScoreRow(query, {row, nullptr});
  };
  if (rows.size() == 1) return score(rows.begin);
  std::fill_n(scores, rows.size(), 0);
  for (const NodeRow row : TransformedRows(query)) {
    if (row >= rows.begin && row < rows.end) score(row);
  }
}

int64_t ReservationPlugin::ScoreRow(const PodQuery& query, const RowView& row) {
  State& state = *StateOf(query);
  if (state.pre_allocation != nullptr) return state.pre_allocation->Score(row.row, state.texts);
  return choice_.Score(*state.seeker, row, state.texts);
}

void ReservationPlugin::Normalize(const PodQuery& query, ScoreRange range,
                                  std::span<int64_t> scores) {
  if (StateOf(query)->pre_allocation == nullptr) ReservationChoice::Normalize(range, scores);
}

// ---- A pod and its node

ReservedRooms::Found ReservationPlugin::RoomsFor(const PodShape& shape, NodeRow row) {
  const Seeker* const seeker = SeekerOf(shape.id);
  if (seeker == nullptr) return {};
  if (seeker->ignores_all()) return {.sources = {{.is_everything = true}}};
  Found found{.sources = {}, .must_use_one = seeker->has_affinity()};
  for (const Offer* offer : choice_.InOrder(*seeker, row)) {
    found.sources.push_back({offer->reserve_pod, offer->is_restricted()});
  }
  return found;
}

Verdict ReservationPlugin::Reserve(Attempt& attempt) {
  if (IsReservePod(*attempt.pod)) return ReserveForReservation(attempt);
  const Seeker* const seeker = SeekerOf(attempt.shape->id);
  if (seeker == nullptr || seeker->ignores_all()) return Verdict::Success();
  const Offer* const nominated = choice_.Nominate(*seeker, {attempt.row, nullptr}, texts_);
  if (nominated == nullptr) {
    if (!seeker->has_affinity()) return Verdict::Success();
    return Verdict::Unschedulable(std::string(kNoReservationMatches));
  }
  auto drawn = std::make_unique<Drawn>();
  drawn->from = {nominated->terms.name, nominated->terms.uid};
  drawn->is_pod = nominated->is_pod;
  const kube::ObjectMeta& reserving = nominated->reserve_pod->pod->metadata;
  if (kube::IsBeingDeleted(reserving)) return Verdict::Error(std::string(kTargetIsTerminating));
  if (drawn->is_pod) drawn->ns = reserving.ns;
  if (attempt.held == nullptr) attempt.held = std::make_unique<Holdings>();
  attempt.held->draws_from = drawn->from;
  attempt.SetState(slot(), std::move(drawn));
  return Verdict::Success();
}

Verdict ReservationPlugin::ReserveForReservation(Attempt& attempt) {
  const auto at = states_.find(attempt.shape->id);
  if (at == states_.end() || at->second.front()->pre_allocation == nullptr) {
    return Verdict::Success();
  }
  const auto pods = at->second.front()->pre_allocation->Nominate(attempt.row, texts_);
  if (!pods) return Verdict::Unschedulable(std::string(kNoPodsForPreAllocation));
  if (pods->empty()) return Verdict::Success();
  auto taken = std::make_unique<TakenOver>();
  for (const PodInfo* pod : *pods) taken->pods.push_back(pod->pod);
  attempt.SetState(slot(), std::move(taken));
  return Verdict::Success();
}

void ReservationPlugin::Unreserve(Attempt& attempt) {
  if (IsReservePod(*attempt.pod)) {
    const auto* const taken = attempt.state<TakenOver>(slot());
    if (taken != nullptr && taken->is_told) {
      adoption_.Release(taken->pods, ReservedBy(*attempt.pod));
    }
    return;
  }
  const auto* const drawn = attempt.state<Drawn>(slot());
  if (drawn == nullptr || !drawn->is_marked) return;
  consumption_.Unmark(drawn->from, drawn->is_pod, *attempt.pod, drawn->ns);
}

void ReservationPlugin::PreBind(Attempt& attempt, VerdictDone done) {
  if (IsReservePod(*attempt.pod)) {
    auto* const taken = attempt.state<TakenOver>(slot());
    if (taken == nullptr) return done(Verdict::Success());
    taken->is_told = true;
    return adoption_.Adopt(taken->pods, ReservedBy(*attempt.pod), std::move(done));
  }
  auto* const drawn = attempt.state<Drawn>(slot());
  if (drawn == nullptr) return done(Verdict::Success());
  const Offer* const offer = offers_->Find(drawn->from.uid);
  if (offer == nullptr || offer->reserve_pod == nullptr || !offer->available) {
    return done(Verdict::Error(std::string(kNoTarget)));
  }
  attempt.annotations.insert_or_assign(
      std::string(api::kAnnotationReservationAllocated),
      api::EncodeReservationAllocated({drawn->from.name, drawn->from.uid}));
  if (!offer->terms.allocate_once || context_.client == nullptr) return done(Verdict::Success());
  drawn->is_marked = true;
  consumption_.Mark(*offer, *attempt.pod, std::move(done));
}

void ReservationPlugin::Bind(Attempt& attempt, VerdictDone done) {
  if (!IsReservePod(*attempt.pod)) return done(Verdict::Skip());
  binder_.Bind(attempt, std::move(done));
}

// ---- When to try again

// A pod may have been rejected because of an offer that is there no more, and what was said of it
// then tells nothing of what would be said now. So whatever makes room may cure it, as soon as
// there was an offer at all; whether it does is seen by looking at the rows that have changed.
bool ReservationPlugin::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  const bool reserves = Reserves(rejected);
  const bool was_asked = reserves || offers_->any_ever();
  switch (event.kind) {
    case EventKind::kForced:
      return true;
    case EventKind::kAssignedPodRemoved:
      return was_asked || preemption_;
    case EventKind::kNodeAdded:
      return was_asked;
    case EventKind::kNodeUpdated:
      return was_asked && (event.node_changes.allocatable || event.node_changes.labels);
    case EventKind::kAssignedPodUpdated:
      return was_asked && MightCureByUpdate(rejected, event);
    case EventKind::kReservationChanged:
      return reserves ? GivesWay(event) : MightServe(rejected, event);
    default:
      return false;
  }
}

// One that acts as a reservation may be ready now, what a reservation holds may have changed, and
// any pod may have been scaled down.
bool ReservationPlugin::MightCureByUpdate(const kube::Pod& rejected,
                                          const ClusterEvent& event) const {
  if (event.pod_before == nullptr || Reserves(*event.pod_after)) return true;
  const auto terms = model::ReservationSeeker::Of(rejected);
  return terms.ok() && offers_->HasAnyFor(model::OfferKeysOf(rejected, *terms)) &&
         kube::PodRequests(*event.pod_before) != kube::PodRequests(*event.pod_after);
}

// Where another policy kept reservations off a node.
bool ReservationPlugin::GivesWay(const ClusterEvent& event) {
  const auto& before = event.reservation_before;
  const auto& after = event.reservation_after;
  return before != nullptr && model::IsAvailable(*before) &&
         (after == nullptr || !model::IsAvailable(*after) ||
          before->spec.allocate_policy != after->spec.allocate_policy);
}

bool ReservationPlugin::MightServe(const kube::Pod& rejected, const ClusterEvent& event) const {
  const auto& after = event.reservation_after;
  return after != nullptr && model::IsAvailable(*after) && MayDrawFrom(rejected, *after);
}

bool ReservationPlugin::MayDrawFrom(const kube::Pod& pod,
                                    const api::Reservation& reservation) const {
  const auto offer = model::ReservationOffer::Of(reservation);
  const auto terms = model::ReservationSeeker::Of(pod);
  const auto row = context_.nodes().Find(reservation.status.node_name);
  if (!offer.ok() || !terms.ok() || !row) return false;
  return model::Match(pod, *terms, *offer, context_.nodes().node(*row).metadata.labels,
                      match_options_)
      .is_match();
}

}  // namespace koord::scheduler
