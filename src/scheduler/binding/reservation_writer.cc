#include "scheduler/binding/reservation_writer.h"

#include "api/keys.h"
#include "api/reservation.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/codec.h"
#include "model/reservation/reservation_status.h"

namespace koord::scheduler {
namespace {

constexpr int kTries = 4;

kube::ObjectKey KeyOfReservation(const kube::Pod& pod) {
  return {"",
          std::string(kube::ValueOf(pod.metadata.annotations, api::kAnnotationReservationName))};
}

}  // namespace

struct ReservationWriter::Showing {
  kube::ObjectKey key;
  std::string uid;
  std::string message;
  int attempts = 0;
};

kube::ObjectReference ReservationWriter::ReferenceTo(const kube::Pod& pod) const {
  return {.kind = api::kReservations.kind,
          .name = NameOf(pod),
          .uid = pod.metadata.uid,
          .api_version = api::kReservations.api_version(),
          .resource_version = pod.metadata.resource_version};
}

std::string ReservationWriter::NameOf(const kube::Pod& pod) const {
  return KeyOfReservation(pod).name;
}

void ReservationWriter::PatchMetadata(const kube::Pod& pod, kube::json::object metadata,
                                      kube::Client::Done done) {
  metadata["uid"] = pod.metadata.uid;
  client_.Patch(api::kReservations, KeyOfReservation(pod), kube::PatchType::kMerge,
                kube::json::object{{"metadata", std::move(metadata)}}, {}, std::move(done));
}

void ReservationWriter::ShowFailure(const kube::Pod& pod, const Failure& failure) {
  Read(
      std::make_shared<Showing>(Showing{KeyOfReservation(pod), pod.metadata.uid, failure.message}));
}

void ReservationWriter::Read(const std::shared_ptr<Showing>& showing) {
  ++showing->attempts;
  client_.Get(api::kReservations, showing->key,
              scope_.Wrap([this, showing](const StatusOr<kube::Json>& answer) {
                if (answer.ok()) return Write(showing, *answer);
                if (kube::IsNotFound(answer.status())) return;
                LOG_WARNING("Could not read a reservation to update its status",
                            {"reservation", showing->key.name}, {"err", answer.status()});
              }));
}

void ReservationWriter::Write(const std::shared_ptr<Showing>& showing,
                              const kube::Json& reservation) {
  StatusOr<api::Reservation> now = kube::Decode<api::Reservation>(reservation);
  if (!now.ok()) return;                          // its watch has told
  if (now->metadata.uid != showing->uid) return;  // another of the same name
  model::SetUnschedulable(now->status, showing->message, client_.loop().clock().Now());
  const kube::Json shown = kube::Encode(*now);
  const kube::Json patch = {
      {"metadata", {{"uid", showing->uid}, {"resourceVersion", now->metadata.resource_version}}},
      {"status", {{"conditions", *kube::Find(shown, {"status", "conditions"})}}}};
  client_.Patch(api::kReservations, showing->key, kube::PatchType::kMerge, patch,
                {.subresource = "status"},
                scope_.Wrap([this, showing](const StatusOr<kube::Json>& answer) {
                  if (answer.ok() || kube::IsNotFound(answer.status())) return;
                  if (kube::IsConflict(answer.status()) && showing->attempts < kTries) {
                    return Read(showing);
                  }
                  LOG_WARNING("Could not update the status of a reservation",
                              {"reservation", showing->key.name}, {"err", answer.status()});
                }));
}

}  // namespace koord::scheduler
