#pragma once
#include <string_view>
#include <vector>

#include "scheduler/books/quota_book.h"
#include "scheduler/framework/service_plugin.h"

namespace koord::scheduler {

// What people may ask about quotas:
//   quotas            all of them by name, without roots; ?tree=ID: those of one tree
//   quotas/{name}     one
// ?includePods=true: with the pods that are charged. The book outlives the answers.
std::vector<ServicePlugin::Endpoint> QuotaEndpoints(const QuotaBook& book);

}  // namespace koord::scheduler
