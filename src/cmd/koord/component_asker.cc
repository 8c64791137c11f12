#include "cmd/koord/component_asker.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kube/json.h"
#include "kube/resources.h"

namespace koord::cli {
namespace {

std::string MessageIn(const kube::HttpResponse& answer) {
  const auto body = kube::ParseJson(answer.body);
  const std::string_view message =
      body.ok() && body->is_object() ? kube::FindString(*body, {"message"}) : std::string_view();
  if (!message.empty()) return std::string(message);
  return answer.body.empty() ? fmt::format("HTTP {}", answer.status) : answer.body;
}

// The component itself has looked: its answers have no kind, those of the API server have.
bool IsFinal(const kube::HttpResponse& answer) {
  if (answer.status != 404 && answer.status != 400) return false;
  const auto body = kube::ParseJson(answer.body);
  return body.ok() && body->is_object() && kube::FindString(*body, {"kind"}).empty() &&
         !kube::FindString(*body, {"message"}).empty();
}

Status Final(const kube::HttpResponse& answer) {
  if (answer.status == 400) return InvalidArgument("{}", MessageIn(answer));
  return NotFound("{}", MessageIn(answer));
}

}  // namespace

void AddComponentOptions(CLI::App& app, const std::string& role, ComponentAddress& address) {
  app.add_option(fmt::format("--{}-namespace", role), address.ns,
                 fmt::format("where {} runs", address.name))
      ->capture_default_str();
  app.add_option(fmt::format("--{}-name", role), address.service, "of its service")
      ->capture_default_str();
  app.add_option(fmt::format("--{}-port", role), address.port, "of its service")
      ->capture_default_str();
}

StatusOr<std::string> ComponentAsker::Ask(const std::string& path) {
  ASSIGN_OR_RETURN(kube::HttpResponse answer, Proxy("services", address_.service, path));
  if (answer.status == 200) return answer.body;
  if (IsFinal(answer)) return Final(answer);
  const auto leader = LeaderPod();
  if (!leader.ok()) return Unanswered(MessageIn(answer));
  ASSIGN_OR_RETURN(answer, Proxy("pods", *leader, path));
  if (answer.status == 200) return answer.body;
  return IsFinal(answer) ? Final(answer) : Unanswered(MessageIn(answer));
}

StatusOr<kube::HttpResponse> ComponentAsker::Proxy(std::string_view what, const std::string& name,
                                                   const std::string& path) {
  return connection_.Raw(fmt::format("/api/v1/namespaces/{}/{}/{}:{}/proxy{}", address_.ns, what,
                                     name, address_.port, path));
}

// The holder of a lease is called "<pod>_<uuid>".
StatusOr<std::string> ComponentAsker::LeaderPod() {
  ASSIGN_OR_RETURN(const kube::Json lease,
                   connection_.Get(kube::kLeases, {address_.ns, address_.lease}));
  const std::string_view holder = kube::FindString(lease, {"spec", "holderIdentity"});
  const std::string_view pod = holder.substr(0, holder.rfind('_'));
  if (pod.empty()) return NotFound("no replica leads");
  return std::string(pod);
}

Status ComponentAsker::Unanswered(std::string_view why) const {
  return Unavailable(
      "{} does not answer at {}, service {}/{}:{}: {}\n"
      "Does it run? 'kubectl -n {} get pods,services' shows; a local cluster has it unless it was "
      "started --without it.",
      address_.name, connection_.server(), address_.ns, address_.service, address_.port, why,
      address_.ns);
}

}  // namespace koord::cli
