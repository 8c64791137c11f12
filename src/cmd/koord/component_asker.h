#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "cmd/koord/connection.h"
#include "kube/http.h"

namespace CLI {
class App;
}

namespace koord::cli {

// Where a component of Koordinator is found in its cluster.
struct ComponentAddress {
  std::string name;  // what users call it: "koord-scheduler"
  std::string ns = "koordinator-system";
  std::string service;
  std::string lease;
  int port = 0;
};

// Adds --<role>-namespace, --<role>-name and --<role>-port.
void AddComponentOptions(CLI::App& app, const std::string& role, ComponentAddress& address);

// Asks a component through the API server, which reaches its pods as any client's requests do.
class ComponentAsker {
 public:
  ComponentAsker(Connection& connection, const ComponentAddress& address)
      : connection_(connection), address_(address) {}

  // The body of its answer. Of several replicas only the leader knows; the service may have led to
  // another one, and the lease tells which it is. NotFound and InvalidArgument are the component's
  // own words; any other error says that it could not be asked, and what to do about that.
  StatusOr<std::string> Ask(const std::string& path);

 private:
  StatusOr<kube::HttpResponse> Proxy(std::string_view what, const std::string& name,
                                     const std::string& path);
  StatusOr<std::string> LeaderPod();
  Status Unanswered(std::string_view why) const;

  Connection& connection_;
  const ComponentAddress& address_;
};

}  // namespace koord::cli
