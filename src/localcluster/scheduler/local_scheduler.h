#pragma once
#include <memory>
#include <optional>

#include "base/event_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "scheduler/program/scheduler_app.h"

namespace koord::localcluster {

// How pods are placed where nobody says otherwise: as Koordinator's chart configures it, for pods
// that name koord-scheduler and for those that name no scheduler at all.
scheduler::SchedulerConfiguration LocalSchedulerConfiguration();

// Where a client of the API server reaches it, by the service's proxy.
inline const kube::ObjectKey kSchedulerService{"koordinator-system", "koord-scheduler"};

// koord-scheduler inside the local cluster: the only one, so that it need not be elected. It uses
// the lender's copies of objects, if there is one.
StatusOr<std::unique_ptr<scheduler::SchedulerApp>> MakeLocalScheduler(
    EventLoop& loop, kube::Client& client, program::ComponentApi& api, uint64_t seed,
    std::optional<scheduler::SchedulerConfiguration> configuration = {},
    kube::InformerSet* lender = nullptr);

}  // namespace koord::localcluster
