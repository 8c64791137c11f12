#pragma once
#include "kube/json.h"
#include "scheduler/books/device_book.h"
#include "scheduler/plugins/device_share/device_trial.h"

namespace koord::scheduler {

// The devices of a node for people: what there is, what is left, what is used, and by whom.
kube::Json DescribeDevices(NodeRow row, const DeviceBook& book);

// Which devices a pod would get, or is refused and why each of them does not do; a sentence each.
std::vector<std::string> ExplainDevices(const PodDevices& pod, const DeviceTrial& trial,
                                        const std::optional<model::NumaMask>& from);

}  // namespace koord::scheduler
