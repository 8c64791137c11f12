#pragma once
#include <string>
#include <vector>

#include "kube/transport/client_config.h"
#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

// What is configured of extenders and not acted upon, a sentence an extender: nobody shall believe
// that an extender has a say where it has none. `reachable`: there is a way to talk to them.
std::vector<std::string> WarningsAbout(const std::vector<Extender>& extenders, bool reachable);

// Where an extender is and how it is trusted. With enableHTTPS and no certificate authority it is
// trusted whoever it is, as in Kubernetes.
kube::ClientConfig ConnectionOf(const Extender& extender);

// NodeResourcesFit of every profile passes over the resources that extenders alone look after.
void LeaveToExtenders(SchedulerConfiguration& configuration);

}  // namespace koord::scheduler
