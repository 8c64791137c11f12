#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/connection.h"
#include "kube/http.h"
#include "kube/json.h"

namespace CLI {
class App;
}

namespace koord::cli {

// Where a component of Koordinator is found in its cluster.
struct ComponentAddress {
  std::string name;       // what users call it: "koord-scheduler"
  std::string role = {};  // in the names of options: "scheduler"
  std::string ns = "koordinator-system";
  std::string service;
  std::string lease;
  int port = 0;
  int secure_port = 0;   // where it asks who its callers are
  DirectAddress direct;  // where it is, if users know; an empty url: behind its service
};

// As deploy/ and the local cluster install them.
ComponentAddress SchedulerAddress();
ComponentAddress ManagerAddress();

// Adds --<role>-namespace, --<role>-name, --<role>-port and --<role>-secure-port, and --<role> for
// its address.
void AddComponentOptions(CLI::App& app, const std::string& role, ComponentAddress& address);

// Asks a component through the API server, which reaches its pods as any client's requests do; or
// at its address, as the kubeconfig's user, since the API server cannot reach one that was started
// outside of the cluster.
//
// The API server does not tell the component who asks. One that wants to know is shown a token of
// the service account koord-explain, which whoever may make one gets from the API server.
class ComponentAsker {
 public:
  ComponentAsker(Connection& connection, const ComponentAddress& address)
      : connection_(connection), address_(address) {}

  // The body of its answer. Of several replicas only the leader knows; the service may have led to
  // another one, and the lease tells which it is. NotFound and InvalidArgument are the component's
  // own words; any other error says that it could not be asked, and what to do about that.
  StatusOr<std::string> Ask(const std::string& path);
  // The same for one that answers with JSON.
  StatusOr<kube::Json> AskForJson(const std::string& path);

 private:
  StatusOr<kube::HttpResponse> AskOne(std::string_view what, const std::string& name,
                                      const std::string& path);
  StatusOr<kube::HttpResponse> Proxy(std::string_view what, const std::string& target,
                                     const std::string& path);
  Status Login();
  StatusOr<std::string> AskDirectly(const std::string& path);
  StatusOr<std::string> LeaseHolder();
  Status Unanswered(std::string_view why) const;
  Status IsOutside(std::string_view holder) const;

  Connection& connection_;
  const ComponentAddress& address_;
  std::string token_;  // once it was asked for
};

}  // namespace koord::cli
