#include "program/program.h"
#include "scheduler/config/scheduler_gates.h"
#include "scheduler/program/scheduler_component.h"
#include "scheduler/program/scheduler_options.h"

constexpr char kDescription[] =
    "koord-scheduler places pods on nodes: by Kubernetes' own rules, and by what nodes really use, "
    "their CPUs and devices, reservations, gangs and quotas. It serves the pods whose "
    "spec.schedulerName is that of one of its profiles.";

int main(int argc, char** argv) {
  using namespace koord;
  program::Program program("koord-scheduler", kDescription, scheduler::SchedulerFeatureGates());
  const scheduler::SchedulerOptions options(program);
  return program.Run(argc, argv, [&](program::Environment& environment) {
    return scheduler::SchedulerComponent::Make(environment, options);
  });
}
