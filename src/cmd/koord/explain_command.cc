#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "cmd/koord/cli.h"
#include "cmd/koord/connection.h"
#include "cmd/koord/terminal.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "scheduler/explain/explanation.h"

namespace koord::cli {
namespace {

struct Options {
  ConnectionOptions connection;
  std::string kind;
  std::string pod;
  std::string ns = "default";
  std::string scheduler_ns = "koordinator-system";
  std::string scheduler = "koord-scheduler";
  int port = 10251;
  std::string output;
};

// Asks the scheduler through the API server, which reaches its pods as any client's requests do.
class Asker {
 public:
  Asker(Connection& connection, const Options& options)
      : connection_(connection), options_(options) {}

  // The body of its answer. Of several replicas only the leader knows; the service may have led to
  // another one, and the lease tells which it is.
  StatusOr<std::string> Ask(const std::string& path) {
    ASSIGN_OR_RETURN(kube::HttpResponse answer, Proxy("services", options_.scheduler, path));
    if (answer.status == 200) return answer.body;
    if (IsFinal(answer)) return NotFound("{}", MessageIn(answer));
    const auto leader = LeaderPod();
    if (!leader.ok()) return Unavailable("{}", MessageIn(answer));
    ASSIGN_OR_RETURN(answer, Proxy("pods", *leader, path));
    if (answer.status == 200) return answer.body;
    return NotFound("{}", MessageIn(answer));
  }

 private:
  StatusOr<kube::HttpResponse> Proxy(std::string_view what, const std::string& name,
                                     const std::string& path) {
    return connection_.Raw(fmt::format("/api/v1/namespaces/{}/{}/{}:{}/proxy{}",
                                       options_.scheduler_ns, what, name, options_.port, path));
  }

  // The holder of a lease is called "<pod>_<uuid>".
  StatusOr<std::string> LeaderPod() {
    ASSIGN_OR_RETURN(const kube::Json lease,
                     connection_.Get(kube::kLeases, {options_.scheduler_ns, options_.scheduler}));
    const std::string_view holder = kube::FindString(lease, {"spec", "holderIdentity"});
    const std::string_view pod = holder.substr(0, holder.rfind('_'));
    if (pod.empty()) return NotFound("no replica leads");
    return std::string(pod);
  }

  // The scheduler itself has looked and found no such pod.
  static bool IsFinal(const kube::HttpResponse& answer) {
    const auto body = kube::ParseJson(answer.body);
    return answer.status == 404 && body.ok() && kube::FindString(*body, {"kind"}).empty() &&
           !kube::FindString(*body, {"message"}).empty();
  }

  static std::string MessageIn(const kube::HttpResponse& answer) {
    const auto body = kube::ParseJson(answer.body);
    const std::string_view message =
        body.ok() && body->is_object() ? kube::FindString(*body, {"message"}) : std::string_view();
    if (!message.empty()) return std::string(message);
    return answer.body.empty() ? fmt::format("HTTP {}", answer.status) : answer.body;
  }

  Connection& connection_;
  const Options& options_;
};

size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return 100;
  return std::min<size_t>(size.ws_col, 160);
}

Status Print(const std::string& body, const std::string& output) {
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseJson(body));
  std::string text;
  if (output == "json") {
    text = kube::Serialize(json) + "\n";
  } else if (output == "yaml") {
    text = kube::ToYaml(json);
  } else {
    ASSIGN_OR_RETURN(const auto explanation, kube::Decode<scheduler::Explanation>(json));
    text = scheduler::FormatExplanation(explanation, TerminalWidth());
  }
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

int Fail(const Status& status, int code) {
  std::fprintf(stderr, "koord explain: %s\n", std::string(Message(status)).c_str());
  return code;
}

int Run(const Options& options) {
  const size_t slash = options.pod.find('/');
  const std::string ns =
      slash == std::string::npos ? options.ns : std::string(options.pod.substr(0, slash));
  const std::string name = slash == std::string::npos ? options.pod : options.pod.substr(slash + 1);
  auto connection = Connection::Open(options.connection);
  if (!connection.ok()) return Fail(connection.status(), kCluster);
  const auto body =
      Asker(**connection, options).Ask(fmt::format("/apis/v1/explain/pods/{}/{}", ns, name));
  if (!body.ok()) {
    return Fail(body.status(), absl::IsNotFound(body.status()) ? kFailed : kCluster);
  }
  const Status printed = Print(*body, options.output);
  return printed.ok() ? kOk : Fail(printed, kCluster);
}

}  // namespace

Command ExplainCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("explain", "why a pod is pending, or why it landed where it is");
  app->footer(
      "  koord explain pod default/web-0\n"
      "  koord explain pod web-0 -n shop -o yaml");
  auto options = std::make_shared<Options>();
  app->add_option("kind", options->kind, "what to explain: pod")
      ->required()
      ->check(CLI::IsMember({"pod", "pods", "po"}));
  app->add_option("pod", options->pod, "NAMESPACE/NAME, or NAME with -n")->required();
  AddConnectionOptions(*app, options->connection);
  app->add_option("-n,--namespace", options->ns, "of the pod")->capture_default_str();
  app->add_option("--scheduler-namespace", options->scheduler_ns, "where the scheduler runs")
      ->capture_default_str();
  app->add_option("--scheduler-name", options->scheduler, "of its service and its lease")
      ->capture_default_str();
  app->add_option("--scheduler-port", options->port, "of its service")->capture_default_str();
  app->add_option("-o,--output", options->output, "json or yaml")
      ->check(CLI::IsMember({"json", "yaml"}));
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
