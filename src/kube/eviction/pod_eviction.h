#pragma once
#include <absl/functional/any_invocable.h>

#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/client/delete_options.h"
#include "kube/objects/meta.h"

// How pods are made to leave, for all who do that: which requests there are, and what their answers
// mean. Whom to evict, how fast, and what to do about a refusal is up to the caller.
namespace koord::kube {

enum class EvictionAnswer {
  kLeaves,   // it was told to go
  kGone,     // it had gone before; a younger pod may have its name
  kRefused,  // a disruption budget keeps it for now: later it may go
  kFailed,   // anything else; it may be gone all the same if the answer was lost
};

struct EvictionResult {
  static EvictionResult Of(Status status);

  EvictionAnswer answer;
  Status status;

  bool leaves() const {
    return answer == EvictionAnswer::kLeaves || answer == EvictionAnswer::kGone;
  }
};

using EvictionDone = absl::AnyInvocable<void(const EvictionResult&)>;

// Why a pod is taken away from its owner, for whoever counts failures.
struct Disruption {
  std::string reason;  // one word: PreemptionByScheduler
  std::string message;
};

// A policy/v1 Eviction, to be posted to the pod.
Json EvictionOf(const ObjectKey& pod, const DeleteOptions& options);
// A strategic patch of the status of this very pod that sets its condition DisruptionTarget.
Json DisruptionPatch(const ObjectMeta& pod, const Disruption& disruption, WallTime now);

// All of these are about this very pod: whatever the options say of the uid, one that was made anew
// under its name is left alone. `done` runs on the client's loop.

// Asks for leave, so that disruption budgets are honoured. The server marks the pod.
void EvictPod(Client& client, const ObjectMeta& pod, DeleteOptions options, EvictionDone done);
// Asks no budget.
void DeletePod(Client& client, const ObjectMeta& pod, DeleteOptions options, EvictionDone done);
// Says on the pod why it goes, then deletes it. One that cannot be marked goes all the same.
void MarkAndDeletePod(Client& client, const ObjectMeta& pod, const Disruption& disruption,
                      DeleteOptions options, EvictionDone done);

}  // namespace koord::kube
