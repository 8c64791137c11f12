#pragma once
#include <vector>

#include "scheduler/framework/service_plugin.h"
#include "scheduler/gangs/gang_book.h"

namespace koord::scheduler {

// What people may ask about gangs:
//   gang/{namespace}/{name}   one
//   gangs                     all, by id
// The book outlives the answers.
std::vector<ServicePlugin::Endpoint> GangEndpoints(const GangBook& book);

}  // namespace koord::scheduler
