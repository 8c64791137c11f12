#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"

// What users may ask for and nothing acts on yet. Admission warns of it, the scheduler records an
// event and `koord validate` reports it, all in the words from here, so that nobody finds out from
// an incident. A feature that arrives takes its lines away.
namespace koord::api {

// A sentence for each label, annotation and resource of the pod that has no effect yet. What
// plugins act on that a scheduler need not run has one where they are not `at_work`.
std::vector<std::string> UnsupportedRequestsOf(const kube::Pod& pod,
                                               std::span<const std::string_view> at_work = {});

// Why objects of this kind have no effect yet; nothing for kinds that are acted on.
std::optional<std::string> UnsupportedKind(std::string_view group, std::string_view kind);

}  // namespace koord::api
