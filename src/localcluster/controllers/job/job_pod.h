#pragma once
#include <optional>
#include <string>

#include "base/random.h"
#include "kube/controller/write.h"
#include "kube/json.h"
#include "kube/objects/job.h"
#include "kube/objects/pod.h"

namespace koord::localcluster {

// Keeps a job's pod from vanishing before it has been counted.
inline constexpr const char* kJobTracking = "batch.kubernetes.io/job-tracking";
inline constexpr const char* kCompletionIndex = "batch.kubernetes.io/job-completion-index";

// A new pod of the job; with its index where the job's pods have one.
kube::Json JobPod(const kube::Job& job, std::optional<int32_t> index, Random& random);

// The index a pod was made for; none if it has none.
std::optional<int32_t> IndexOf(const kube::Pod& pod);

bool IsTracked(const kube::Pod& pod);
kube::Write Untrack(const kube::Pod& pod);

}  // namespace koord::localcluster
