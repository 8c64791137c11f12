#include "scheduler/reservation_controller/reservation_controller.h"

#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/resources.h"
#include "model/reservation/reservation_state.h"
#include "model/reservation/reservation_status.h"
#include "scheduler/reservation_controller/consumer_place.h"

namespace koord::scheduler {
namespace {

// Workers do not wait for answers here: each has so many under way.
constexpr int kWritesOfAWorker = 8;

std::string VersionOf(const kube::Json& object) {
  return std::string(kube::FindString(object, {"metadata", "resourceVersion"}));
}

}  // namespace

ReservationController::Key ReservationController::Key::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

ReservationController::ReservationController(const PluginContext& context, Options options)
    : ledger_(context.ledger),
      book_(context.books.reservations),
      objects_(context.objects),
      pending_(*context.pending),
      client_(*context.client),
      recorder_(context.recorder),
      options_(std::move(options)),
      queue_(
          context.loop,
          [this](const std::string& key, kube::WorkQueue::Finish done) {
            Handle(key, std::move(done));
          },
          options_.args.controller_workers * kWritesOfAWorker),
      collecting_(context.loop) {}

void ReservationController::AddTo(const PluginContext& context, Options options) {
  if (context.leader_parts == nullptr) return;  // nothing is written here
  context.objects.reservations.Need();
  auto made = std::unique_ptr<ReservationController>(
      new ReservationController(context, std::move(options)));
  ReservationController& controller = *made;
  if (context.leader_parts->Add(std::move(made))) controller.Listen();
}

void ReservationController::Listen() {
  ledger_.AddListener(*this);
  pending_.AddListener(*this);
  objects_.reservations.AddWatcher(
      scope_.Wrap([this](const ReservationPtr& before, const ReservationPtr& after) {
        OnReservation(before, after);
      }));
}

void ReservationController::Start() {
  running_ = true;
  for (const auto& [key, reservation] : objects_.reservations.objects()) {
    Enqueue({reservation->metadata.name, reservation->metadata.uid});
  }
  const NodeTable& nodes = ledger_.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) OnOwner(*pod);
  }
  Collect();
}

void ReservationController::Stop(Task done) {
  running_ = false;
  collecting_.Cancel();
  written_upon_.clear();
  when_stopped_ = std::move(done);
  Done();
}

void ReservationController::Done() {
  if (running_ || under_way_ != 0 || !when_stopped_) return;
  std::exchange(when_stopped_, nullptr)();
}

// ---- What happens in the cluster

void ReservationController::Enqueue(const Key& key) {
  if (running_) queue_.Add(key.ToString());
}

void ReservationController::OnReservation(const ReservationPtr& before,
                                          const ReservationPtr& after) {
  const auto consumer_of = [](const ReservationPtr& reservation) {
    const auto consumer = reservation ? model::ConsumerOf(*reservation) : std::nullopt;
    return consumer ? consumer->uid : std::string();
  };
  const auto key_of = [](const ReservationPtr& reservation) {
    return Key{reservation->metadata.name, reservation->metadata.uid};
  };
  by_consumer_.erase(consumer_of(before));
  if (after == nullptr || (before != nullptr && before->metadata.uid != after->metadata.uid)) {
    written_upon_.erase(before->metadata.uid);
    warned_of_.erase(before->metadata.uid);
    Enqueue(key_of(before));
  }
  if (after == nullptr) return;
  if (const std::string consumer = consumer_of(after); !consumer.empty()) {
    by_consumer_.insert_or_assign(consumer, key_of(after));
  }
  Enqueue(key_of(after));
}

// A pod that was to use up a reservation may turn up elsewhere.
void ReservationController::OnPodAdded(const PodInfo& pod) {
  OnOwner(pod);
  OnConsumer(pod.uid());
}

void ReservationController::OnOwner(const PodInfo& pod) {
  if (!running_ || pod.held == nullptr || !pod.held->draws_from) return;
  Enqueue({pod.held->draws_from->name, pod.held->draws_from->uid});
}

void ReservationController::OnNodeRemoved(NodeRow row) {
  if (!running_) return;
  const std::string& node = ledger_.nodes().name(row);
  for (const auto& [key, reservation] : objects_.reservations.objects()) {
    if (reservation->status.node_name != node) continue;
    Enqueue({reservation->metadata.name, reservation->metadata.uid});
  }
}

// A pod that was to use up a reservation may go without ever being shown on its node.
void ReservationController::OnPodGone(const PodPtr& last) { OnConsumer(last->metadata.uid); }

void ReservationController::OnConsumer(const std::string& uid) {
  if (by_consumer_.empty()) return;
  const auto consumed = by_consumer_.find(uid);
  if (consumed != by_consumer_.end()) Enqueue(consumed->second);
}

// ---- What is done about it

void ReservationController::Handle(const std::string& key, kube::WorkQueue::Finish done) {
  if (!running_) return done(true);
  CarryOut(key, Decide(Key::Parse(key)), std::move(done));
}

kube::Plan ReservationController::Decide(const Key& key) {
  const api::Reservation* reservation = objects_.reservations.Find(key.name);
  if (reservation == nullptr || reservation->metadata.uid != key.uid) return DecideGone(key);
  const auto written = written_upon_.find(key.uid);
  if (written != written_upon_.end()) {
    if (written->second == reservation->metadata.resource_version) return {};
    written_upon_.erase(written);
  }
  WarnIfInvalid(*reservation);
  return DecideReservation(*reservation, FactsOf(*reservation),
                           {.expire_unscheduled = options_.args.expire_unscheduled},
                           client_.loop().clock().Now());
}

kube::Plan ReservationController::DecideGone(const Key& key) const {
  kube::Plan plan;
  const ReservationBook::Entry* entry = book_.FindByUid(key.uid);
  if (!options_.clean_allocated || entry == nullptr) return plan;
  for (const PodInfo* owner : entry->owners) {
    if (owner->assumed) continue;
    kube::Write write = kube::PinnedPatch(
        kube::kPods, owner->pod->metadata,
        {{"metadata", {{"annotations", {{api::kAnnotationReservationAllocated, nullptr}}}}}});
    write.independent = true;
    plan.writes.push_back(std::move(write));
  }
  return plan;
}

ReservationFacts ReservationController::FactsOf(const api::Reservation& reservation) const {
  ReservationFacts facts;
  const std::optional<NodeRow> row = ledger_.nodes().Find(reservation.status.node_name);
  facts.has_its_node = row.has_value();
  if (const auto consumer = model::ConsumerOf(reservation)) {
    facts.consumer = PlaceOfConsumer(consumer->uid, reservation.metadata.uid, ledger_, &pending_);
  }
  const ReservationBook::Entry* entry = book_.FindByUid(reservation.metadata.uid);
  if (entry == nullptr || !row) return facts;
  for (const PodInfo* owner : entry->owners) {
    if (owner->row == *row && !owner->assumed) facts.owners.push_back(owner->pod);
  }
  return facts;
}

// Those without a node say it in their conditions.
void ReservationController::WarnIfInvalid(const api::Reservation& reservation) {
  if (recorder_ == nullptr || !model::IsActive(reservation)) return;
  const std::string& uid = reservation.metadata.uid;
  const std::optional<std::string> why = WhyInvalid(reservation);
  if (!why) {
    warned_of_.erase(uid);
    return;
  }
  std::string& told = warned_of_[uid];
  if (told == *why) return;
  told = *why;
  kube::Plan plan;
  plan.Warn(api::kReservations, reservation.metadata, "InvalidReservation",
            fmt::format("nobody can use it: {}", *why));
  plan.notes.front().action = "Matching";  // without one the API server refuses it
  recorder_->Record(plan.notes.front());
}

void ReservationController::CarryOut(const std::string& key, kube::Plan plan,
                                     kube::WorkQueue::Finish done) {
  if (plan.again) queue_.AddAfter(key, *plan.again);
  if (plan.writes.empty()) return done(true);
  ++under_way_;
  std::string upon(kube::FindString(plan.writes.front().body, {"metadata", "resourceVersion"}));
  kube::SendAll(
      client_, std::move(plan.writes),
      scope_.Wrap([this, key, upon = std::move(upon),
                   done = std::move(done)](std::vector<kube::WriteResult> results) {
        --under_way_;
        bool ok = true;
        for (const kube::WriteResult& result : results) {
          if (!result.answer.ok()) {
            ok = false;
            LOG_V(2, "Could not write about a reservation", {"reservation", key},
                  {"err", result.answer.status()});
          } else if (result.write->subresource == "status" && VersionOf(*result.answer) != upon) {
            written_upon_[Key::Parse(key).uid] = upon;
          }
        }
        done(ok);
        Done();
      }));
}

void ReservationController::Collect() {
  if (options_.args.disable_garbage_collection) return;
  collecting_.Set(options_.args.gc_interval(), [this] { Collect(); });
  const WallTime now = client_.loop().clock().Now();
  std::vector<kube::Write> writes;
  for (const auto& [key, reservation] : objects_.reservations.objects()) {
    const std::string& node = reservation->status.node_name;
    const bool has_its_node = node.empty() || ledger_.nodes().Find(node);
    if (kube::IsBeingDeleted(reservation->metadata) ||
        !model::IsCollectable(*reservation, has_its_node, options_.args.gc_duration(), now)) {
      continue;
    }
    writes.push_back(kube::Delete(api::kReservations, reservation->metadata));
    writes.back().independent = true;
  }
  if (writes.empty()) return;
  ++under_way_;
  kube::SendAll(client_, std::move(writes),
                scope_.Wrap([this](const std::vector<kube::WriteResult>& results) {
                  --under_way_;
                  for (const kube::WriteResult& result : results) {
                    if (result.answer.ok()) continue;
                    LOG_WARNING("Could not delete a reservation that has ended",
                                {"reservation", result.write->key.name},
                                {"err", result.answer.status()});
                  }
                  Done();
                }));
}

}  // namespace koord::scheduler
