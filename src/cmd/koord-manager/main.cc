#include "manager/config/manager_gates.h"
#include "manager/program/manager_component.h"
#include "manager/program/manager_options.h"
#include "program/program.h"

constexpr char kDescription[] =
    "koord-manager closes the loop of co-location: it turns what nodes really use into batch and "
    "mid resources that others may have, and policies into what koordlet does on each node. Its "
    "webhooks turn ordinary pods into co-located ones and keep quotas sound.";

int main(int argc, char** argv) {
  using namespace koord;
  program::Program program("koord-manager", kDescription, manager::ManagerFeatureGates());
  const manager::ManagerOptions options(program);
  return program.Run(argc, argv, [&](program::Environment& environment) {
    return std::make_unique<manager::ManagerComponent>(environment, options);
  });
}
