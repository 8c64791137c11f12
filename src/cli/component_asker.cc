#include "cli/component_asker.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kube/json.h"
#include "kube/resources.h"
#include "program/delegated_auth.h"

namespace koord::cli {
namespace {

constexpr char kExplainAccount[] = "koord-explain";
constexpr int kTokenSeconds = 600;  // the shortest that Kubernetes gives out

std::string MessageIn(const kube::HttpResponse& answer) {
  const auto body = kube::ParseJson(answer.body);
  const std::string_view message =
      body.ok() && body->is_object() ? kube::FindString(*body, {"message"}) : std::string_view();
  if (!message.empty()) return std::string(message);
  return answer.body.empty() ? fmt::format("HTTP {}", answer.status) : answer.body;
}

// What the holder of a lease, "<host or pod>_<uuid>", runs on.
std::string HostOf(std::string_view holder) {
  return std::string(holder.substr(0, holder.rfind('_')));
}

// Where it would listen on a host if nobody told it otherwise.
std::string UsualUrl(const ComponentAddress& address, std::string_view host) {
  return address.secure_port != 0 ? fmt::format("https://{}:{}", host, address.secure_port)
                                  : fmt::format("http://{}:{}", host, address.port);
}

// The API server, not the component, knows of no such thing.
bool IsUnknownToServer(const kube::HttpResponse& answer) {
  const auto body = kube::ParseJson(answer.body);
  return answer.status == 404 && body.ok() && body->is_object() &&
         kube::FindString(*body, {"kind"}) == "Status";
}

// The component itself has looked: its answers have no kind, those of the API server have.
bool IsFinal(const kube::HttpResponse& answer) {
  if (answer.status != 404 && answer.status != 400) return false;
  const auto body = kube::ParseJson(answer.body);
  return body.ok() && body->is_object() && kube::FindString(*body, {"kind"}).empty() &&
         !kube::FindString(*body, {"message"}).empty();
}

// The component's own words; the API server's have a kind.
bool WantsLogin(const kube::HttpResponse& answer) {
  return answer.status == 403 && answer.body.starts_with("forbidden: ");
}

Status Final(const kube::HttpResponse& answer) {
  if (answer.status == 400) return InvalidArgument("{}", MessageIn(answer));
  return NotFound("{}", MessageIn(answer));
}

}  // namespace

ComponentAddress SchedulerAddress() {
  return {.name = "koord-scheduler",
          .service = "koord-scheduler",
          .lease = "koord-scheduler",
          .port = 10251,
          .secure_port = 10259,
          .direct = {}};
}

ComponentAddress ManagerAddress() {
  return {.name = "koord-manager",
          .service = "koord-manager",
          .lease = "koordinator-manager",
          .port = 8080,
          .secure_port = 8443,
          .direct = {}};
}

void AddComponentOptions(CLI::App& app, const std::string& role, ComponentAddress& address) {
  address.role = role;
  app.add_option(fmt::format("--{}-namespace", role), address.ns,
                 fmt::format("where {} runs", address.name))
      ->capture_default_str();
  app.add_option(fmt::format("--{}-name", role), address.service, "of its service")
      ->capture_default_str();
  app.add_option(fmt::format("--{}-port", role), address.port, "of its service")
      ->capture_default_str();
  app.add_option(fmt::format("--{}-secure-port", role), address.secure_port,
                 "of its service, for HTTPS with a login")
      ->capture_default_str();
  app.add_option(fmt::format("--{}", role), address.direct.url,
                 fmt::format("ask it at this URL, as the kubeconfig's user: for one that runs "
                             "outside of the cluster ({})",
                             UsualUrl(address, "127.0.0.1")));
  app.add_option(
      fmt::format("--{}-certificate-authority", role), address.direct.ca_file,
      fmt::format("file to check the certificate of --{} with; otherwise the cluster's", role));
  app.add_flag(fmt::format("--{}-insecure-skip-tls-verify", role),
               address.direct.insecure_skip_tls_verify,
               fmt::format("do not check the certificate of --{}", role));
}

StatusOr<std::string> ComponentAsker::Ask(const std::string& path) {
  if (!address_.direct.url.empty()) return AskDirectly(path);
  ASSIGN_OR_RETURN(kube::HttpResponse answer, AskOne("services", address_.service, path));
  if (answer.status == 200) return answer.body;
  if (IsFinal(answer)) return Final(answer);
  const auto holder = LeaseHolder();
  if (!holder.ok()) return Unanswered(MessageIn(answer));
  ASSIGN_OR_RETURN(answer, AskOne("pods", HostOf(*holder), path));
  if (answer.status == 200) return answer.body;
  if (IsFinal(answer)) return Final(answer);
  return IsUnknownToServer(answer) ? IsOutside(*holder) : Unanswered(MessageIn(answer));
}

StatusOr<kube::Json> ComponentAsker::AskForJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string body, Ask(path));
  auto answer = kube::ParseJson(body);
  if (!answer.ok()) return Unanswered(Message(answer.status()));
  return answer;
}

StatusOr<std::string> ComponentAsker::AskDirectly(const std::string& path) {
  const DirectAddress& direct = address_.direct;
  const auto answer = connection_.RawAt(direct, path);
  if (!answer.ok()) {
    return Unavailable("{} does not answer at {}: {}", address_.name, direct.url,
                       Message(answer.status()));
  }
  if (answer->status == 200) return answer->body;
  if (IsFinal(*answer)) return Final(*answer);
  if (answer->status == 401 || answer->status == 403) {
    return Unavailable(
        "{} at {} does not let the kubeconfig's user ask: {}\n"
        "It takes callers that the cluster knows and that may get the path {}; credentials are "
        "sent to https:// addresses only.",
        address_.name, direct.url, MessageIn(*answer), path);
  }
  return Unavailable("{} at {} answers HTTP {}: {}", address_.name, direct.url, answer->status,
                     MessageIn(*answer));
}

// A component that answers everybody needs no login: that of a local cluster, or of upstream.
StatusOr<kube::HttpResponse> ComponentAsker::AskOne(std::string_view what, const std::string& name,
                                                    const std::string& path) {
  if (token_.empty()) {
    ASSIGN_OR_RETURN(kube::HttpResponse answer,
                     Proxy(what, fmt::format("{}:{}", name, address_.port), path));
    if (!WantsLogin(answer)) return answer;
    RETURN_IF_ERROR(Login());
  }
  return Proxy(what, fmt::format("https:{}:{}", name, address_.secure_port), path);
}

StatusOr<kube::HttpResponse> ComponentAsker::Proxy(std::string_view what, const std::string& target,
                                                   const std::string& path) {
  kube::HttpRequest request;
  request.target =
      fmt::format("/api/v1/namespaces/{}/{}/{}/proxy{}", address_.ns, what, target, path);
  if (!token_.empty()) request.headers.Add(program::kForwardedTokenHeader, token_);
  return connection_.Raw(std::move(request));
}

Status ComponentAsker::Login() {
  kube::HttpRequest request;
  request.method = "POST";
  request.target =
      fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", address_.ns, kExplainAccount);
  request.headers.Add("Content-Type", "application/json");
  request.body = kube::Serialize(
      kube::json::object{{"apiVersion", "authentication.k8s.io/v1"},
                         {"kind", "TokenRequest"},
                         {"spec", kube::json::object{{"expirationSeconds", kTokenSeconds}}}});
  ASSIGN_OR_RETURN(const kube::HttpResponse answer, connection_.Raw(std::move(request)));
  const auto body = kube::ParseJson(answer.body);
  if (answer.status == 201 && body.ok()) token_ = kube::FindString(*body, {"status", "token"});
  if (!token_.empty()) return absl::OkStatus();
  return Unavailable(
      "{} answers only those who log in, and no token of the service account {}/{} was to be had: "
      "{}\nIt comes with deploy/scheduler/explain.yaml; you need the permission to create "
      "serviceaccounts/token.",
      address_.name, address_.ns, kExplainAccount, MessageIn(answer));
}

StatusOr<std::string> ComponentAsker::LeaseHolder() {
  ASSIGN_OR_RETURN(const kube::Json lease,
                   connection_.Get(kube::kLeases, {address_.ns, address_.lease}));
  const std::string_view holder = kube::FindString(lease, {"spec", "holderIdentity"});
  if (HostOf(holder).empty()) return NotFound("no replica leads");
  return std::string(holder);
}

Status ComponentAsker::IsOutside(std::string_view holder) const {
  return Unavailable(
      "{} runs outside of the cluster, where the API server at {} cannot reach it: its lease {}/{} "
      "is held by {}, and there is no pod of that name.\n"
      "Say where it listens: --{} {}",
      address_.name, connection_.server(), address_.ns, address_.lease, holder, address_.role,
      UsualUrl(address_, HostOf(holder)));
}

Status ComponentAsker::Unanswered(std::string_view why) const {
  return Unavailable(
      "{} does not answer at {}, service {}/{}:{}: {}\n"
      "Does it run? 'kubectl -n {} get pods,services' shows; a local cluster has it unless it was "
      "started --without it. One that runs outside of the cluster is asked at its address: --{} "
      "{}",
      address_.name, connection_.server(), address_.ns, address_.service, address_.port, why,
      address_.ns, address_.role, UsualUrl(address_, "HOST"));
}

}  // namespace koord::cli
