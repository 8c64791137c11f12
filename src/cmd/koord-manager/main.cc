#include "component/program.h"
#include "manager/config/manager_gates.h"
#include "manager/program/manager_component.h"
#include "manager/program/manager_options.h"

constexpr char kDescription[] =
    "koord-manager closes the loop of co-location: it turns what nodes really use into batch and "
    "mid resources that others may have, and policies into what koordlet does on each node.";

int main(int argc, char** argv) {
  using namespace koord;
  component::Program program("koord-manager", kDescription, manager::ManagerFeatureGates());
  const manager::ManagerOptions options(program);
  return program.Run(argc, argv, [&](component::Environment& environment) {
    return manager::ManagerComponent::Make(environment, options, {});
  });
}
