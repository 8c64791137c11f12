#pragma once
#include <vector>

#include "scheduler/config/reservation_args.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/service_plugin.h"

namespace koord::scheduler {

// What people may ask about reservations:
//   nodeReservations/{node}    those that hold room on a node, and who uses it
//   reservationSelectorIndex   the labels by which they can be looked up, and what is found there;
//                              ?detail=true: by their values
// Everything that the context refers to outlives the answers.
std::vector<ServicePlugin::Endpoint> ReservationEndpoints(const PluginContext& context,
                                                          const ReservationArgs& args);

kube::Json DescribeReservationsOn(const PluginContext& context, std::string_view node);

}  // namespace koord::scheduler
