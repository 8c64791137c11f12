#include "scheduler/plugins/reservation/adoption.h"

#include <utility>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "scheduler/plugins/reservation/json_paths.h"

namespace koord::scheduler {

void Adoption::Adopt(const Pods& pods, const Holdings::Reservation& reservation, VerdictDone done) {
  if (pods.empty() || context_.client == nullptr) return done(Verdict::Success());
  struct Progress {
    VerdictDone done;
    size_t left;
    Verdict verdict;
  };
  auto progress = std::make_shared<Progress>(Progress{std::move(done), pods.size(), {}});
  const std::string said = api::EncodeReservationAllocated({reservation.name, reservation.uid});
  for (const auto& pod : pods) {
    const kube::Json patch = {{"metadata",
                               {{"uid", pod->metadata.uid},
                                {"annotations", {{api::kAnnotationReservationAllocated, said}}}}}};
    context_.client->Patch(kube::kPods, KeyOf(pod->metadata), kube::PatchType::kMerge, patch, {},
                           scope_.Wrap([progress](const StatusOr<kube::Json>& answer) {
                             if (!answer.ok()) {
                               progress->verdict =
                                   Verdict::Error(std::string(Message(answer.status())));
                             }
                             if (--progress->left == 0) progress->done(progress->verdict);
                           }));
  }
}

void Adoption::Release(const Pods& pods, const Holdings::Reservation& reservation) {
  if (context_.client == nullptr) return;
  const std::string path = AnnotationPath(api::kAnnotationReservationAllocated);
  const std::string said = api::EncodeReservationAllocated({reservation.name, reservation.uid});
  for (const auto& pod : pods) {
    const kube::Json patch =
        kube::json::array{{{"op", "test"}, {"path", "/metadata/uid"}, {"value", pod->metadata.uid}},
                          {{"op", "test"}, {"path", path}, {"value", said}},
                          {{"op", "remove"}, {"path", path}}};
    context_.client->Patch(
        kube::kPods, KeyOf(pod->metadata), kube::PatchType::kJson, patch, {},
        [name = KeyOf(pod->metadata).ToString()](const StatusOr<kube::Json>& answer) {
          if (answer.ok() || kube::IsNotFound(answer.status())) return;
          LOG_V(2, "A pod still says that it uses a reservation", {"pod", name},
                {"err", answer.status()});
        });
  }
}

}  // namespace koord::scheduler
