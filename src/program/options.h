#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/election/leader_election.h"
#include "program/delegated_auth.h"
#include "program/flags.h"

// What the user may set of the things that components have in common, and the flags for it. A
// component adds those that its users know. Values of a configuration file may be put in after the
// flags were read (Flags::IsSet tells which of them count more), and before Validate.
namespace koord::program {

struct ClientOptions {
  std::string kubeconfig;
  std::string master;
  double qps = 50;
  int burst = 100;
};
void AddClientFlags(Flags& flags, ClientOptions& options);

struct LeaderElectionConfig {
  bool enabled = true;
  kube::LeaderElectionOptions election;  // without an identity
};
void AddLeaderElectionFlags(Flags& flags, LeaderElectionConfig& options);
Status Validate(const LeaderElectionConfig& options);

struct PlainServingOptions {
  std::string address = "0.0.0.0";
  int port = 10251;  // 0: none
};
void AddPlainServingFlags(Flags& flags, PlainServingOptions& options);
Status Validate(const PlainServingOptions& options);

struct SecureServingOptions {
  std::string address = "0.0.0.0";
  int port = 0;                            // 0: none
  std::string certificate_file, key_file;  // without them: a certificate of its own
  std::string client_ca_file;
  std::string min_tls_version;  // VersionTLS12 or VersionTLS13

  std::string auth_kubeconfig;  // where to ask who may come in; empty: as for everything else
  bool skip_lookup = false;     // do not ask the cluster for the CA of its clients
  DelegatedAuthOptions auth;
};
void AddSecureServingFlags(Flags& flags, SecureServingOptions& options);
Status Validate(const SecureServingOptions& options);

struct LoggingOptions {
  int verbosity = 0;
  std::string format = "text";  // or json
};
void AddLoggingFlags(Flags& flags, LoggingOptions& options);
Status Apply(const LoggingOptions& options);

void AddMetricsFlags(Flags& flags);  // accepted only
// --metrics-without-login, the same for all programs.
void AddOpenMetricsFlag(Flags& flags, bool& without_login);

}  // namespace koord::program
