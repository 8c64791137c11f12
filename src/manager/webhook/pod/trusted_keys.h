#pragma once
#include <string>
#include <vector>

#include "kube/objects/pod.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/field_errors.h"
#include "manager/webhook/review/review.h"
#include "manager/webhook/review/webhook_metrics.h"

// What authors of pods and reservations may not say.
//
// Some annotations are the scheduler's word to the node agent, which acts on them as root: whoever
// sets them himself takes CPUs and devices that he was never given. They are refused from anyone
// but the scheduler, and so is a change of what the mutating webhook noted for the node agent when
// the pod was created. Others are for users but can be abused; those are pointed out in a warning
// and counted, and whoever acts on them keeps them within bounds.
namespace koord::manager::webhook {

struct TrustOptions {
  bool trust_everyone = false;  // as upstream does: nothing is refused or pointed out
  // User names that may write the scheduler's keys.
  std::vector<std::string> schedulers{"system:serviceaccount:koordinator-system:koord-scheduler",
                                      "system:kube-scheduler"};
};

// Adds an error for each of the scheduler's keys that somebody else sets, changes or removes.
// `before` is null for a pod that is created.
void CheckSchedulerKeys(const Request& request, const kube::Annotations& now,
                        const kube::Annotations* before, const TrustOptions& options,
                        FieldErrors& errors, WebhookMetrics* metrics);

// Likewise for a Reservation, whose annotations say what its room consists of, and for those of its
// template, which stand for the reservation's own where it has none: these nobody may write.
void CheckSchedulerKeysOfReservation(const Request& request, const TrustOptions& options,
                                     FieldErrors& errors, WebhookMetrics* metrics);

// Warnings for the author of a Reservation that is created.
std::vector<std::string> QuestionableOwners(const Request& request, const TrustOptions& options,
                                            WebhookMetrics* metrics);

// Warnings for the author of a pod that is created.
std::vector<std::string> QuestionableKeys(const Request& request, const kube::Pod& pod,
                                          std::string_view ns, const ClusterView& view,
                                          const TrustOptions& options, WebhookMetrics* metrics);

}  // namespace koord::manager::webhook
