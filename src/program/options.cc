#include "program/options.h"

#include <boost/asio/ip/address.hpp>

#include "base/log.h"
#include "base/strings.h"

namespace koord::program {
namespace {

Status CheckPort(std::string_view flag, int port) {
  if (port >= 0 && port <= 65535) return absl::OkStatus();
  return InvalidArgument("{} {} must be between 0 and 65535, inclusive", flag, port);
}

Status CheckAddress(std::string_view flag, const std::string& address) {
  boost::system::error_code error;
  boost::asio::ip::make_address(address, error);
  if (!error) return absl::OkStatus();
  return InvalidArgument("{} {} is an invalid IP address", flag, address);
}

}  // namespace

void AddClientFlags(Flags& flags, ClientOptions& options) {
  flags.AddGroup("API server")
      .Text("--kubeconfig", options.kubeconfig,
            "File that says where the API server is and how to be let in. Without it: the cluster "
            "that this program runs in, then $KUBECONFIG, then ~/.kube/config.")
      .Text("--master", options.master, "URL of the API server; replaces that of the kubeconfig.")
      .Number("--kube-api-qps", options.qps, "Requests a second to the API server.")
      .Int("--kube-api-burst", options.burst, "Requests to the API server that may come at once.");
  flags.Accept({"--kube-api-content-type"});
}

void AddLeaderElectionFlags(Flags& flags, LeaderElectionConfig& options) {
  kube::LeaderElectionOptions& election = options.election;
  flags.AddGroup("Leader election")
      .Bool("--leader-elect", options.enabled,
            "Act only while holding a lease, so that of several replicas one is at work.")
      .Time("--leader-elect-lease-duration", election.lease_duration,
            "How long others wait, counted from a leader's last sign of life, before one of them "
            "takes over.")
      .Time("--leader-elect-renew-deadline", election.renew_deadline,
            "How long a leader tries to renew before it gives up and exits. Must be less than the "
            "lease duration.")
      .Time("--leader-elect-retry-period", election.retry_period,
            "Pause between attempts to acquire or renew.")
      .Text("--leader-elect-resource-name", election.lease.name, "Name of the lease.")
      .Text("--leader-elect-resource-namespace", election.lease.ns, "Namespace of the lease.")
      .Custom("--leader-elect-resource-lock", "string", "leases",
              "What the lock is made of; leases are all there is.", [](std::string_view lock) {
                if (lock == "leases") return absl::OkStatus();
                return InvalidArgument("must be leases");
              });
}

Status Validate(const LeaderElectionConfig& options) {
  if (!options.enabled) return absl::OkStatus();
  kube::LeaderElectionOptions election = options.election;
  if (election.identity.empty()) election.identity = "decided later";
  return kube::LeaderElector::Validate(election);
}

void AddPlainServingFlags(Flags& flags, PlainServingOptions& options) {
  flags.AddGroup("Insecure serving")
      .Text("--address", options.address, "Address to listen on with --port.")
      .Int("--port", options.port,
           "Port for plain HTTP, without authentication: health, and with --metrics-without-login "
           "metrics. 0 switches it off.");
}

Status Validate(const PlainServingOptions& options) {
  RETURN_IF_ERROR(CheckPort("--port", options.port));
  return CheckAddress("--address", options.address);
}

void AddSecureServingFlags(Flags& flags, SecureServingOptions& options) {
  flags.AddGroup("Secure serving")
      .Text("--bind-address", options.address, "Address to listen on with --secure-port.")
      .Int("--secure-port", options.port,
           "Port for HTTPS with authentication and authorization. 0 switches it off.")
      .Text("--tls-cert-file", options.certificate_file,
            "Certificate to show, with what leads to its CA; read again when it changes. Without "
            "it the program makes one for itself.")
      .Text("--tls-private-key-file", options.key_file, "Key of --tls-cert-file.")
      .Text("--tls-min-version", options.min_tls_version, "VersionTLS12 or VersionTLS13.");
  flags.Accept({"--cert-dir", "--tls-cipher-suites", "--tls-sni-cert-key",
                "--http2-max-streams-per-connection"},
               {"--disable-http2-serving", "--permit-address-sharing", "--permit-port-sharing"});

  flags.AddGroup("Authentication")
      .Text("--authentication-kubeconfig", options.auth_kubeconfig,
            "kubeconfig of the API server that is asked who a token belongs to; also tells what "
            "its owner may do.")
      .Bool("--authentication-skip-lookup", options.skip_lookup,
            "Do not look up the CA of client certificates in the cluster.")
      .Time("--authentication-token-webhook-cache-ttl", options.auth.token_ttl,
            "How long to remember whose a token is.")
      .Text("--client-ca-file", options.client_ca_file,
            "CA whose client certificates are accepted; read again when it changes.");
  flags.Accept({"--requestheader-allowed-names", "--requestheader-client-ca-file",
                "--requestheader-extra-headers-prefix", "--requestheader-group-headers",
                "--requestheader-uid-headers", "--requestheader-username-headers"},
               {"--authentication-tolerate-lookup-failure"});

  flags.AddGroup("Authorization")
      .List("--authorization-always-allow-paths", options.auth.open_paths,
            "Paths that need no permission.")
      .Time("--authorization-webhook-cache-authorized-ttl", options.auth.allowed_ttl,
            "How long to remember what is allowed.")
      .Time("--authorization-webhook-cache-unauthorized-ttl", options.auth.denied_ttl,
            "How long to remember what is not.")
      .Custom("--authorization-kubeconfig", "string", "",
              "The same as --authentication-kubeconfig, which counts more.",
              [&options](std::string_view path) {
                if (options.auth_kubeconfig.empty()) options.auth_kubeconfig = path;
                return absl::OkStatus();
              });
}

Status Validate(const SecureServingOptions& options) {
  RETURN_IF_ERROR(CheckPort("--secure-port", options.port));
  RETURN_IF_ERROR(CheckAddress("--bind-address", options.address));
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return InvalidArgument("--tls-cert-file and --tls-private-key-file need each other");
  }
  for (const char* known : {"", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"}) {
    if (options.min_tls_version == known) return absl::OkStatus();
  }
  return InvalidArgument("--tls-min-version {} is unknown: VersionTLS12 or VersionTLS13",
                         Quote(options.min_tls_version));
}

void AddLoggingFlags(Flags& flags, LoggingOptions& options) {
  flags.AddGroup("Logs")
      .Int("-v,--v", options.verbosity, "How much to log: 0 little, 4 a lot, 10 everything.")
      .Text("--logging-format", options.format, "text or json.");
  flags.Accept(
      {"--vmodule", "--log-flush-frequency", "--log-json-info-buffer-size",
       "--log-text-info-buffer-size", "--stderrthreshold", "--log-dir", "--log-file",
       "--log-file-max-size", "--log-backtrace-at"},
      {"--logtostderr", "--alsologtostderr", "--log-json-split-stream", "--log-text-split-stream",
       "--one-output", "--skip-headers", "--skip-log-headers", "--add-dir-header"});
}

Status Apply(const LoggingOptions& options) {
  if (options.format != "text" && options.format != "json") {
    return InvalidArgument("--logging-format {} is unknown: text or json", Quote(options.format));
  }
  log::SetVerbosity(options.verbosity);
  log::SetFormat(options.format == "json" ? log::Format::kJson : log::Format::kText);
  return absl::OkStatus();
}

void AddOpenMetricsFlag(Flags& flags, bool& without_login) {
  flags.AddGroup("Metrics").Bool(
      "--metrics-without-login", without_login,
      "Answer for metrics to everybody who reaches the port for plain HTTP, too. Without it they "
      "are answered at the secure port, to those whom the cluster allows it.");
}

void AddMetricsFlags(Flags& flags) {
  flags.Accept({"--allow-metric-labels", "--allow-metric-labels-manifest", "--disabled-metrics",
                "--show-hidden-metrics-for-version"});
}

}  // namespace koord::program
