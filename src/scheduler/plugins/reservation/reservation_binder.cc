#include "scheduler/plugins/reservation/reservation_binder.h"

#include <utility>

#include "api/resources.h"
#include "kube/api_error.h"
#include "kube/codec.h"
#include "model/reservation/reservation_state.h"
#include "model/reservation/reservation_status.h"
#include "scheduler/framework/stale_outputs.h"

namespace koord::scheduler {
namespace {

constexpr int kBindTries = 5;
constexpr Duration kBindPause = 1s;
constexpr Duration kBusyPause = 20ms;

// Whether what was sent may be in effect nevertheless.
bool MayHaveHappened(const Status& error) {
  if (kube::WasNotSent(error)) return false;
  const int code = kube::HttpCode(error);
  return code == 0 || code >= 500;
}

Verdict Failed(const Status& error) { return Verdict::Error(std::string(Message(error))); }

}  // namespace

struct ReservationBinder::Binding {
  Attempt& attempt;
  VerdictDone done;
  kube::ObjectKey key;
  int tries = 0;

  const std::string& uid() const { return attempt.pod->metadata.uid; }
  void End(Verdict verdict) { done(std::move(verdict)); }
};

void ReservationBinder::Bind(Attempt& attempt, VerdictDone done) {
  auto binding = std::make_shared<Binding>(
      Binding{attempt, std::move(done), {"", ReservedBy(*attempt.pod).name}});
  if (!attempt.annotations.empty() || !StaleOutputsOf(attempt).empty()) {
    return WriteMetadata(std::move(binding));
  }
  const api::Reservation* known = context_.objects.reservations.Find(binding->key);
  if (known == nullptr || known->metadata.uid != binding->uid()) return Read(binding);
  Write(binding, *known);
}

// What it was given beyond amounts: a status cannot carry that.
void ReservationBinder::WriteMetadata(BindingPtr binding) {
  kube::json::object annotations;
  for (const auto& [key, value] : binding->attempt.annotations) annotations[key] = value;
  for (const std::string_view key : StaleOutputsOf(binding->attempt)) annotations[key] = nullptr;
  const kube::Json patch = {
      {"metadata", {{"uid", binding->uid()}, {"annotations", std::move(annotations)}}}};
  const kube::ObjectKey key = binding->key;
  context_.client->Patch(
      api::kReservations, key, kube::PatchType::kMerge, patch, {},
      scope_.Wrap([this, binding = std::move(binding)](const StatusOr<kube::Json>& answer) {
        if (!answer.ok()) return binding->End(Failed(answer.status()));
        OnRead(binding, answer);
      }));
}

void ReservationBinder::Write(const BindingPtr& binding, const api::Reservation& reservation) {
  ++binding->tries;
  if (model::HasEnded(reservation))
    return binding->End(Verdict::Error("reservation is not active"));
  if (kube::IsBeingDeleted(reservation.metadata)) {
    return binding->End(Verdict::Error("pod is being deleted"));
  }
  if (!reservation.status.node_name.empty()) {
    return binding->End(Verdict::Error(
        fmt::format("reservation has node {} already", reservation.status.node_name)));
  }
  auto allocatable = model::AllocatableToBe(reservation);
  if (!allocatable.ok()) return binding->End(Failed(allocatable.status()));
  api::ReservationStatus status = reservation.status;
  model::SetAvailable(status, binding->attempt.node, *std::move(allocatable),
                      context_.loop.clock().Now());
  const kube::Json patch = {
      {"metadata",
       {{"uid", binding->uid()}, {"resourceVersion", reservation.metadata.resource_version}}},
      {"status", kube::Encode(status)}};
  context_.client->Patch(
      api::kReservations, binding->key, kube::PatchType::kMerge, patch,
      {.subresource = "status", .ignore_answer = true},
      scope_.Wrap([this, binding](const StatusOr<kube::Json>& answer) {
        if (answer.ok()) return binding->End(Verdict::Success());
        const Status& error = answer.status();
        if (MayHaveHappened(error)) return Read(binding);
        const bool again =
            kube::IsConflict(error) || kube::IsTooManyRequests(error) || absl::IsUnavailable(error);
        if (!again || binding->tries >= kBindTries) {
          return binding->End(Failed(error));
        }
        if (kube::IsConflict(error)) return Read(binding);
        context_.loop.Schedule(kBusyPause, scope_.Wrap([this, binding] { Read(binding); }));
      }));
}

void ReservationBinder::Read(const BindingPtr& binding) {
  context_.client->Get(api::kReservations, binding->key,
                       scope_.Wrap([this, binding](const StatusOr<kube::Json>& answer) {
                         OnRead(binding, answer);
                       }));
}

void ReservationBinder::OnRead(const BindingPtr& binding, const StatusOr<kube::Json>& answer) {
  if (!answer.ok()) {
    if (kube::IsNotFound(answer.status())) return binding->End(Failed(answer.status()));
    return ReadLater(binding);
  }
  const StatusOr<api::Reservation> now = kube::Decode<api::Reservation>(*answer);
  if (!now.ok()) return binding->End(Failed(now.status()));
  if (now->metadata.uid != binding->uid()) {
    return binding->End(Verdict::Error("another reservation has its name by now"));
  }
  if (model::IsAvailable(*now) && now->status.node_name == binding->attempt.node) {
    return binding->End(Verdict::Success());  // the answer to what was sent was lost
  }
  Write(binding, *now);
}

void ReservationBinder::ReadLater(const BindingPtr& binding) {
  context_.loop.Schedule(kBindPause, scope_.Wrap([this, binding] { Read(binding); }));
}

}  // namespace koord::scheduler
