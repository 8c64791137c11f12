#pragma once
#include <functional>

#include "program/component_api.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/explain/decision_log.h"
#include "scheduler/service/debug_log.h"

namespace koord::scheduler {

// What the service API is about; everything outlives the API.
struct ServiceContext {
  Scheduler& scheduler;
  const DecisionLog& decisions;
  DebugFlags& debug;
  std::function<bool()> initialized;  // the whole cluster is known
  std::function<bool()> is_leader;
  std::function<Scheduler::PodPtr(const kube::ObjectKey&)> find_pod;  // null if there is none
};

// Adds what koord-scheduler answers besides what every component does:
//   /apis/v1/__services__                    what there is
//   /apis/v1/nodes/{node}                    a node as the scheduler sees it
//   /apis/v1/explain/pods/{namespace}/{name} where a pod stands, and why
//   /apis/v1/explain/reservations/{name}     whom a reservation serves, and until when
//   /apis/v1/plugins/...                     what plugins have to say (ServicePlugin)
//   /metrics/resources                       what pods ask for; empty unless it leads
//   /debug/flags/{s,f,d,db}                  debug flags
// Below /apis/v1 only the leader answers, once it knows the whole cluster.
void AddSchedulerRoutes(program::ComponentApi& api, const ServiceContext& context);

}  // namespace koord::scheduler
