#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::manager::webhook {

// What the API server has to know to call our webhooks.
struct Registration {
  std::string service_ns, service_name;
  std::string host;  // instead of the service
  int port = 9876;   // with the host
  std::string ca_bundle;
  std::set<std::string, std::less<>> paths;  // that are answered
};

// A webhook configuration (of either kind) as it should be; nothing if it is so already.
//
// The list of webhooks is the administrator's: what it was is kept in an annotation, and of that
// list those whose path is answered are put in force, with our certificate and address. Those about
// pods leave out our own namespace and kube-system, by name: otherwise a cluster whose manager is
// down could not start it again. They leave out no namespace for its label "control-plane", which
// its owner may set.
StatusOr<std::optional<kube::Json>> Registered(const kube::Json& configuration,
                                               const Registration& registration);

// The paths that a configuration's list is about, answered or not.
StatusOr<std::set<std::string, std::less<>>> ListedPaths(const kube::Json& configuration);

}  // namespace koord::manager::webhook
