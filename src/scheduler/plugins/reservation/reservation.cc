#include "scheduler/plugins/reservation/reservation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "model/reservation/reservation_state.h"
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

// What one attempt draws from.
struct Drawn final : AttemptState {
  Holdings::Reservation from;
  bool is_pod = false;
  std::string ns;  // of such a pod
  bool is_marked = false;
};

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
  Status problem;                  // with what pods say of reservations
  std::unique_ptr<Seeker> seeker;  // null: they may use none
  ReasonHold texts;
};

ReservationPlugin::ReservationPlugin(const PluginContext& context, const ReservationArgs& args)
    : context_(context),
      args_(args),
      match_options_{.omit_node_labels = context.Enabled("OmitNodeLabelsForReservation")},
      offers_(std::make_shared<Offers>(context)),
      neighbours_(context.nodes(), *offers_, context.reasons),
      choice_(context.ledger, context.reasons,
              {.is_ignored = [this](std::string_view name) { return args_.Ignores(name); },
               .skip_fits_node = context.Enabled("SkipReservationFitsNode")}),
      binder_(context),
      consumption_(context) {
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
  if (!seeks) return state;
  auto terms = model::ReservationSeeker::Of(sample);
  state->problem = terms.status();
  if (!terms.ok()) return state;
  state->seeker = std::make_unique<Seeker>(
      shape, *std::move(terms),
      Seeker::Context{.offers = offers_,
                      .nodes = context_.ledger.nodes(),
                      .options = match_options_,
                      .found_first = [this](uint32_t id) { ++first_found_[id]; },
                      .forget_first =
                          [this](uint32_t id) {
                            const auto at = first_found_.find(id);
                            if (--at->second == 0) first_found_.erase(at);
                          }});
  return state;
}

// A shape that was left out because nothing was reserved for it comes back when something is. That
// nothing is any more does not matter: it will be again.
uint64_t ReservationPlugin::VersionFor(const PodShape& shape) const {
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
  if (IsReservePod(pod)) return AdmitReservation(pod);
  const Seeker* const seeker = state->seeker.get();
  if (seeker != nullptr && seeker->limit() != nullptr && seeker->limit()->size() == 0) {
    return Verdict::Unresolvable(std::string(kNoReservationMatches));
  }
  return Verdict::Success();
}

Verdict ReservationPlugin::AdmitReservation(const kube::Pod& reserve_pod) const {
  const std::string name = ReservedBy(reserve_pod).name;
  const api::Reservation* reservation = context_.objects.reservations.Find(name);
  if (reservation == nullptr || reservation->metadata.uid != reserve_pod.metadata.uid) {
    return Verdict::Error(fmt::format(
        "cannot get reservation, err: reservation.scheduling.koordinator.sh \"{}\" not found",
        name));
  }
  const Status valid = api::Validate(reservation->spec);
  return valid.ok() ? Verdict::Success() : Verdict::Error(std::string(Message(valid)));
}

void ReservationPlugin::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  State* const state = StateOf(query);
  if (state == nullptr) return;
  neighbours_.Filter(state->asks, rows, keep);
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
  if (!verdict.ok() || state->seeker == nullptr) return verdict;
  return choice_.Check(*state->seeker, row, state->texts);
}

FilterPlugin::PodsRead ReservationPlugin::Reads(const PodQuery& query) {
  return StateOf(query) == nullptr ? PodsRead::kNone : PodsRead::kAny;
}

std::span<const NodeRow> ReservationPlugin::TransformedRows(const PodQuery& query) {
  const Seeker* const seeker = SeekerOf(query);
  return seeker == nullptr ? std::span<const NodeRow>() : seeker->transformed();
}

const RowDelta* ReservationPlugin::DeltaOf(const PodQuery& query, NodeRow row) {
  const Seeker* const seeker = SeekerOf(query);
  if (seeker == nullptr) return nullptr;
  const Seeker::Row* const of_row = seeker->Find(row);
  return of_row == nullptr || of_row->matches == 0 ? nullptr : &of_row->delta;
}

FilterTransformer::AbsentPods ReservationPlugin::Absent(const PodQuery& query) {
  Seeker* const seeker = SeekerOf(query);
  return seeker == nullptr ? AbsentPods() : seeker->Absent();
}

// ---- Which node

Verdict ReservationPlugin::PreScore(PodQuery& query, std::span<const uint8_t>) {
  const Seeker* const seeker = SeekerOf(query);
  if (seeker == nullptr || seeker->ignores_all() || !seeker->is_served()) return Verdict::Skip();
  return Verdict::Success();
}

void ReservationPlugin::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  State& state = *StateOf(query);
  const auto score = [&](NodeRow row) {
    scores[row - rows.begin] = choice_.Score(*state.seeker, {row, nullptr}, state.texts);
  };
  if (rows.size() == 1) return score(rows.begin);
  std::fill_n(scores, rows.size(), 0);
  for (const NodeRow row : state.seeker->transformed()) {
    if (row >= rows.begin && row < rows.end) score(row);
  }
}

int64_t ReservationPlugin::ScoreRow(const PodQuery& query, const RowView& row) {
  State& state = *StateOf(query);
  return choice_.Score(*state.seeker, row, state.texts);
}

void ReservationPlugin::Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) {
  ReservationChoice::Normalize(range, scores);
}

// ---- A pod and its node

Verdict ReservationPlugin::Reserve(Attempt& attempt) {
  if (IsReservePod(*attempt.pod)) return Verdict::Success();
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

void ReservationPlugin::Unreserve(Attempt& attempt) {
  const auto* const drawn = attempt.state<Drawn>(slot());
  if (drawn == nullptr || !drawn->is_marked) return;
  consumption_.Unmark(drawn->from, drawn->is_pod, *attempt.pod, drawn->ns);
}

void ReservationPlugin::PreBind(Attempt& attempt, VerdictDone done) {
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

bool ReservationPlugin::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  const bool reserves = Reserves(rejected);
  switch (event.kind) {
    case EventKind::kForced:
      return true;
    case EventKind::kAssignedPodRemoved: {
      if (reserves) return event.pod_before == nullptr || Reserves(*event.pod_before);
      if (offers_->empty()) return false;
      auto terms = model::ReservationSeeker::Of(rejected);
      return terms.ok() && offers_->HasAnyFor(model::OfferKeysOf(rejected, *terms));
    }
    case EventKind::kReservationChanged: {
      const auto& after = event.reservation_after;
      return !reserves && after != nullptr && model::IsAvailable(*after) &&
             MayDrawFrom(rejected, *after);
    }
    default:
      return false;
  }
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
