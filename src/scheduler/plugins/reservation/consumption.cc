#include "scheduler/plugins/reservation/consumption.h"

#include <utility>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "scheduler/plugins/reservation/words.h"

namespace koord::scheduler {
namespace {

constexpr int kMarkTries = 4;
constexpr Duration kMarkPause = 50ms;

std::string MarkOf(const kube::Pod& consumer) {
  const kube::ObjectMeta& meta = consumer.metadata;
  return api::EncodeReservationCurrentOwner(
      {.kind = {}, .ns = meta.ns, .name = meta.name, .uid = meta.uid});
}

const kube::Resource& ResourceOf(bool is_pod) { return is_pod ? kube::kPods : api::kReservations; }

bool IsWorthAnother(const Status& status) {
  return kube::IsTooManyRequests(status) || absl::IsUnavailable(status);
}

Verdict VerdictOf(const kube::Json& marked) {
  if (kube::Find(marked, {"metadata", "deletionTimestamp"}) != nullptr) {
    return Verdict::Error(std::string(kTargetIsTerminating));
  }
  const auto phase = kube::FindString(marked, {"status", "phase"});
  if (phase == api::kReservationFailed || phase == api::kReservationSucceeded) {
    return Verdict::Error(std::string(kNoTarget));
  }
  return Verdict::Success();
}

}  // namespace

struct Consumption::Marking {
  const kube::Resource& resource;
  kube::ObjectKey key;
  std::string uid;
  std::string mark;
  VerdictDone done;
  int tries = 0;
};

void Consumption::Mark(const Offer& offer, const kube::Pod& consumer, VerdictDone done) {
  const std::string ns = offer.is_pod ? offer.reserve_pod->pod->metadata.ns : std::string();
  Send(std::make_shared<Marking>(Marking{ResourceOf(offer.is_pod),
                                         {ns, offer.terms.name},
                                         offer.terms.uid,
                                         MarkOf(consumer),
                                         std::move(done)}));
}

void Consumption::Send(const std::shared_ptr<Marking>& marking) {
  ++marking->tries;
  const kube::Json patch = {
      {"metadata",
       {{"uid", marking->uid},
        {"annotations", {{api::kAnnotationReservationCurrentOwner, marking->mark}}}}}};
  context_.client->Patch(
      marking->resource, marking->key, kube::PatchType::kMerge, patch, {},
      scope_.Wrap([this, marking](const StatusOr<kube::Json>& answer) {
        if (answer.ok()) return marking->done(VerdictOf(*answer));
        const Status& error = answer.status();
        if (IsWorthAnother(error) && marking->tries < kMarkTries) {
          return (void)context_.loop.Schedule(kMarkPause,
                                              scope_.Wrap([this, marking] { Send(marking); }));
        }
        const bool gone = kube::IsNotFound(error) || kube::IsConflict(error);
        marking->done(Verdict::Error(gone ? std::string(kNoTarget) : std::string(Message(error))));
      }));
}

void Consumption::Unmark(const Holdings::Reservation& reservation, bool is_pod,
                         const kube::Pod& consumer, const std::string& ns) {
  std::string path = "/metadata/annotations/";
  for (const char c : api::kAnnotationReservationCurrentOwner) {
    c == '/' ? path += "~1" : path += c;
  }
  const kube::Json patch =
      kube::json::array{{{"op", "test"}, {"path", "/metadata/uid"}, {"value", reservation.uid}},
                        {{"op", "test"}, {"path", path}, {"value", MarkOf(consumer)}},
                        {{"op", "remove"}, {"path", path}}};
  context_.client->Patch(ResourceOf(is_pod), {ns, reservation.name}, kube::PatchType::kJson, patch,
                         {}, [name = reservation.name](const StatusOr<kube::Json>& answer) {
                           if (answer.ok() || kube::IsNotFound(answer.status())) return;
                           // A mark of a pod without a node counts for nothing.
                           LOG_V(2, "Could not take back who uses a reservation",
                                 {"reservation", name}, {"err", answer.status()});
                         });
}

}  // namespace koord::scheduler
