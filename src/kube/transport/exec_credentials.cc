#include "kube/transport/exec_credentials.h"

#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "kube/json.h"
#include "kube/time.h"
#include "kube/transport/child_process.h"

namespace koord::kube {
namespace {

constexpr std::string_view kVersions[] = {"client.authentication.k8s.io/v1",
                                          "client.authentication.k8s.io/v1beta1"};
constexpr Duration kTimeout = std::chrono::minutes(1);
constexpr Duration kInteractiveTimeout = std::chrono::minutes(10);  // somebody may have to type

Status CheckExec(const ExecConfig& exec) {
  if (exec.command.empty()) return InvalidArgument("exec.command is empty");
  if (exec.api_version != kVersions[0] && exec.api_version != kVersions[1]) {
    return InvalidArgument("exec.apiVersion {} is not supported: expected {} or {}",
                           Quote(exec.api_version), kVersions[0], kVersions[1]);
  }
  const std::string& mode = exec.interactive_mode;
  if (mode.empty() && exec.api_version == kVersions[0]) {
    return InvalidArgument(
        "exec.interactiveMode is required with {}: expected Never, IfAvailable or Always",
        kVersions[0]);
  }
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    return InvalidArgument(
        "exec.interactiveMode {} is unknown: expected Never, IfAvailable or Always", Quote(mode));
  }
  return absl::OkStatus();
}

// What the program is told of the cluster it makes credentials for.
StatusOr<Json> ClusterInfo(const ClientConfig& config) {
  json::object cluster{{"server", config.server}};
  if (!config.tls_server_name.empty()) cluster["tls-server-name"] = config.tls_server_name;
  if (config.insecure_skip_tls_verify) cluster["insecure-skip-tls-verify"] = true;
  if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
  std::string authority = config.ca_data;
  if (authority.empty() && !config.ca_file.empty()) {
    ASSIGN_OR_RETURN(authority, ReadFile(config.ca_file));
  }
  if (!authority.empty()) cluster["certificate-authority-data"] = Base64Encode(authority);
  if (!config.exec->cluster_extension.is_null()) cluster["config"] = config.exec->cluster_extension;
  return Json(std::move(cluster));
}

class ExecCredentials final : public CredentialSource {
 public:
  ExecCredentials(AsioLoop& loop, const ClientConfig& config) : loop_(loop), config_(config) {}

  void Get(Done done) override {
    if (IsFresh()) return done(credential_);
    waiting_.push_back(std::move(done));
    if (child_ == nullptr) Run();
  }

  void Reject(const Credential& refused) override {
    if (refused == credential_) valid_ = false;
  }

 private:
  const ExecConfig& exec() const { return *config_.exec; }

  bool IsFresh() const { return valid_ && (!expires_ || loop_.clock().Now() < *expires_); }

  bool Interactive() const {
    return exec().interactive_mode != "Never" && ::isatty(STDIN_FILENO) == 1;
  }

  void Run() {
    if (exec().interactive_mode == "Always" && !Interactive()) {
      return Answered(InvalidArgument(
          "it wants to ask on a terminal (interactiveMode: Always), but there is none"));
    }
    json::object spec{{"interactive", Interactive()}};
    if (exec().provide_cluster_info) {
      StatusOr<Json> cluster = ClusterInfo(config_);
      if (!cluster.ok()) return Answered(cluster.status());
      spec["cluster"] = std::move(*cluster);
    }
    const Json info{
        {"kind", "ExecCredential"}, {"apiVersion", exec().api_version}, {"spec", std::move(spec)}};
    ChildProcess::Command command;
    command.program = exec().command;
    command.args = exec().args;
    command.env = exec().env;
    command.env.emplace_back("KUBERNETES_EXEC_INFO", Serialize(info));
    command.inherit_stdin = Interactive();
    command.timeout = Interactive() ? kInteractiveTimeout : kTimeout;
    child_ = std::make_unique<ChildProcess>(
        loop_, command,
        [this](StatusOr<ChildProcess::Result> result) { OnExit(std::move(result)); });
  }

  void OnExit(StatusOr<ChildProcess::Result> result) {
    const auto ended = std::move(child_);
    if (!result.ok()) {
      const bool missing = absl::IsNotFound(result.status()) && !exec().install_hint.empty();
      return Answered(missing
                          ? InvalidArgument("{}. {}", Message(result.status()), exec().install_hint)
                          : result.status());
    }
    if (result->exit_code != 0) {
      return Answered(InvalidArgument("it failed with exit code {}: {}", result->exit_code,
                                      Quote(Trim(result->errors), 1024)));
    }
    Answered(ParseExecCredential(result->output, exec().api_version));
  }

  void Answered(StatusOr<ExecAnswer> answer) {
    valid_ = answer.ok();
    StatusOr<Credential> outcome;
    if (answer.ok()) {
      credential_ = std::move(answer->credential);
      expires_ = answer->expires;
      outcome = credential_;
    } else {
      outcome = absl::UnauthenticatedError(fmt::format(
          "getting credentials from {}: {}", Quote(exec().command), Message(answer.status())));
    }
    for (Done& done : std::exchange(waiting_, {})) done(outcome);
  }

  AsioLoop& loop_;
  const ClientConfig config_;
  Credential credential_;
  bool valid_ = false;
  std::optional<WallTime> expires_;
  std::vector<Done> waiting_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace

StatusOr<ExecAnswer> ParseExecCredential(std::string_view output, std::string_view api_version) {
  StatusOr<Json> parsed = ParseJson(output);
  if (!parsed.ok() || FindString(*parsed, {"kind"}) != "ExecCredential") {
    return InvalidArgument("it did not print an ExecCredential");
  }
  const std::string_view version = FindString(*parsed, {"apiVersion"});
  if (version != api_version) {
    return InvalidArgument("it printed apiVersion {}, but {} was asked for", Quote(version),
                           api_version);
  }
  ExecAnswer answer;
  const std::string_view token = FindString(*parsed, {"status", "token"});
  answer.credential.certificate = FindString(*parsed, {"status", "clientCertificateData"});
  answer.credential.key = FindString(*parsed, {"status", "clientKeyData"});
  if (answer.credential.certificate.empty() != answer.credential.key.empty()) {
    return InvalidArgument("it printed only one of clientCertificateData and clientKeyData");
  }
  if (token.empty() && answer.credential.key.empty()) {
    return InvalidArgument("it printed neither status.token nor status.clientCertificateData");
  }
  if (!token.empty()) {
    ASSIGN_OR_RETURN(const std::string clean, CleanToken(token));
    answer.credential.authorization = "Bearer " + clean;
  }
  const std::string_view expires = FindString(*parsed, {"status", "expirationTimestamp"});
  if (expires.empty()) return answer;
  answer.expires = ParseTime(expires);
  if (!answer.expires) {
    return InvalidArgument("its expirationTimestamp {} is not an RFC 3339 time", Quote(expires));
  }
  return answer;
}

StatusOr<std::unique_ptr<CredentialSource>> MakeExecCredentials(AsioLoop& loop,
                                                                const ClientConfig& config) {
  RETURN_IF_ERROR(CheckExec(*config.exec));
  return std::make_unique<ExecCredentials>(loop, config);
}

}  // namespace koord::kube
