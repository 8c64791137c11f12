#include "kube/transport/kubeconfig.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "kube/codec.h"
#include "kube/transport/http_transport.h"
#include "kube/yaml.h"

namespace koord::kube {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

struct Extension {
  std::string name;
  Json extension;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("extension", self.extension);
  }
};

struct Cluster {
  std::string server, ca_file, ca_data, tls_server_name, proxy_url;
  bool insecure = false;
  std::vector<Extension> extensions;
  static void Fields(auto& self, auto&& field) {
    field("server", self.server);
    field("certificate-authority", self.ca_file);
    field("certificate-authority-data", self.ca_data);
    field("tls-server-name", self.tls_server_name);
    field("proxy-url", self.proxy_url);
    field("insecure-skip-tls-verify", self.insecure);
    field("extensions", self.extensions);
  }
};

struct EnvVar {
  std::string name, value;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("value", self.value);
  }
};

struct Exec {
  std::string api_version, command, install_hint, interactive_mode;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
  bool provide_cluster_info = false;
  static void Fields(auto& self, auto&& field) {
    field("apiVersion", self.api_version);
    field("command", self.command);
    field("args", self.args);
    field("env", self.env);
    field("installHint", self.install_hint);
    field("interactiveMode", self.interactive_mode);
    field("provideClusterInfo", self.provide_cluster_info);
  }
};

struct User {
  std::string certificate_file, certificate_data, key_file, key_data;
  std::string token, token_file, username, password;
  std::optional<Exec> exec;
  Json auth_provider;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::map<std::string, std::vector<std::string>> as_extra;
  static void Fields(auto& self, auto&& field) {
    field("client-certificate", self.certificate_file);
    field("client-certificate-data", self.certificate_data);
    field("client-key", self.key_file);
    field("client-key-data", self.key_data);
    field("token", self.token);
    field("tokenFile", self.token_file);
    field("username", self.username);
    field("password", self.password);
    field("exec", self.exec);
    field("auth-provider", self.auth_provider);
    field("as", self.as);
    field("as-uid", self.as_uid);
    field("as-groups", self.as_groups);
    field("as-user-extra", self.as_extra);
  }
};

struct Context {
  std::string cluster, user, ns;
  static void Fields(auto& self, auto&& field) {
    field("cluster", self.cluster);
    field("user", self.user);
    field("namespace", self.ns);
  }
};

template <class T>
struct Named {
  std::string name;
  T value;
  std::string file;  // that it came from
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    if constexpr (std::is_same_v<T, Cluster>) {
      field("cluster", self.value);
    } else if constexpr (std::is_same_v<T, User>) {
      field("user", self.value);
    } else {
      field("context", self.value);
    }
  }
};

// A kubeconfig, or several merged.
struct Kubeconfig {
  std::vector<Named<Cluster>> clusters;
  std::vector<Named<User>> users;
  std::vector<Named<Context>> contexts;
  std::string current_context;
  std::vector<std::string> files;
  static void Fields(auto& self, auto&& field) {
    field("clusters", self.clusters);
    field("users", self.users);
    field("contexts", self.contexts);
    field("current-context", self.current_context);
  }

  std::string Where() const { return Join(files, ":"); }
};

template <class T>
const Named<T>* FindNamed(const std::vector<Named<T>>& list, std::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(),
                               [&](const Named<T>& entry) { return entry.name == name; });
  return it == list.end() ? nullptr : &*it;
}

template <class T>
std::string Names(const std::vector<Named<T>>& list) {
  if (list.empty()) return "it has none";
  std::vector<std::string> names;
  for (const Named<T>& entry : list) names.push_back(entry.name);
  return "it has " + Join(names, ", ");
}

// A text that stands in the wrong place of a kubeconfig may well be a token.
std::string WithoutValues(std::string_view error) {
  const size_t found = error.find(", found \"");
  if (found == std::string_view::npos) return std::string(error);
  return std::string(error.substr(0, found)) + ", found a string";
}

StatusOr<Kubeconfig> ParseFile(std::string_view text, const std::string& path) {
  StatusOr<Json> document = ParseYaml(text);
  if (!document.ok()) return InvalidArgument("{}:{}", path, Message(document.status()));
  if (document->is_null()) *document = json::object();
  StatusOr<Kubeconfig> config = Decode<Kubeconfig>(*document);
  if (!config.ok()) return InvalidArgument("{}: {}", path, WithoutValues(Message(config.status())));
  for (auto& cluster : config->clusters) cluster.file = path;
  for (auto& user : config->users) user.file = path;
  for (auto& context : config->contexts) context.file = path;
  config->files.push_back(path);
  return config;
}

// What `first` names is not touched by `second`, as a whole.
void Merge(Kubeconfig& first, Kubeconfig second) {
  const auto append = [](auto& into, auto& from) {
    for (auto& entry : from) {
      if (FindNamed(into, entry.name) == nullptr) into.push_back(std::move(entry));
    }
  };
  append(first.clusters, second.clusters);
  append(first.users, second.users);
  append(first.contexts, second.contexts);
  if (first.current_context.empty()) first.current_context = std::move(second.current_context);
  first.files.insert(first.files.end(), second.files.begin(), second.files.end());
}

// Fills in a ClientConfig from one named entry, whose place is put in front of every error.
class Resolver {
 public:
  Resolver(std::string file, std::string_view list, std::string_view name)
      : folder_(fs::path(file).parent_path()),
        place_(fmt::format("{}: {} {}", file, list, Quote(name))) {}

  Status Error(std::string_view field, std::string_view problem) const {
    return InvalidArgument("{}: {}: {}", place_, field, problem);
  }

  std::string Path(const std::string& path) const {
    if (path.empty() || fs::path(path).is_absolute()) return path;
    return (folder_ / path).lexically_normal();
  }

  StatusOr<std::string> Data(std::string_view field, const std::string& base64) const {
    auto decoded = Base64Decode(base64);
    if (!decoded) return Error(field, "is not base64");
    return *std::move(decoded);
  }

 private:
  fs::path folder_;
  std::string place_;
};

Status UseCluster(const Named<Cluster>& named, ClientConfig& config) {
  const Cluster& cluster = named.value;
  const Resolver resolver(named.file, "cluster", named.name);
  if (cluster.server.empty()) {
    return resolver.Error("server", "is missing; expected the API server's URL");
  }
  if (cluster.insecure && (!cluster.ca_data.empty() || !cluster.ca_file.empty())) {
    return resolver.Error("insecure-skip-tls-verify",
                          "cannot be combined with a certificate authority; remove one of them");
  }
  config.server = cluster.server;
  config.insecure_skip_tls_verify = cluster.insecure;
  config.tls_server_name = cluster.tls_server_name;
  config.proxy_url = cluster.proxy_url;
  config.ca_file = resolver.Path(cluster.ca_file);
  ASSIGN_OR_RETURN(config.ca_data, resolver.Data("certificate-authority-data", cluster.ca_data));
  return absl::OkStatus();
}

void UseExec(const Exec& exec, const Resolver& resolver, const Named<Cluster>& cluster,
             ClientConfig& config) {
  ExecConfig& out = config.exec.emplace();
  const bool is_path = exec.command.find('/') != std::string::npos;
  out.command = is_path ? resolver.Path(exec.command) : exec.command;
  out.args = exec.args;
  for (const EnvVar& variable : exec.env) out.env.emplace_back(variable.name, variable.value);
  out.api_version = exec.api_version;
  out.install_hint = exec.install_hint;
  out.interactive_mode = exec.interactive_mode;
  out.provide_cluster_info = exec.provide_cluster_info;
  for (const Extension& extension : cluster.value.extensions) {
    if (extension.name == kExecExtension) out.cluster_extension = extension.extension;
  }
}

Status UseUser(const Named<User>& named, const Named<Cluster>& cluster, ClientConfig& config) {
  const User& user = named.value;
  const Resolver resolver(named.file, "user", named.name);
  if (!user.auth_provider.is_null()) {
    return resolver.Error("auth-provider", "is not supported; use an exec credential plugin");
  }
  if (user.as.empty() &&
      (!user.as_groups.empty() || !user.as_uid.empty() || !user.as_extra.empty())) {
    return resolver.Error("as", "is missing, but other as-* fields are set");
  }
  config.client_certificate_file = resolver.Path(user.certificate_file);
  config.client_key_file = resolver.Path(user.key_file);
  config.token_file = resolver.Path(user.token_file);
  ASSIGN_OR_RETURN(config.client_certificate_data,
                   resolver.Data("client-certificate-data", user.certificate_data));
  ASSIGN_OR_RETURN(config.client_key_data, resolver.Data("client-key-data", user.key_data));
  config.token = user.token;
  config.username = user.username;
  config.password = user.password;
  if (user.exec) UseExec(*user.exec, resolver, cluster, config);
  config.impersonate_user = user.as;
  config.impersonate_uid = user.as_uid;
  config.impersonate_groups = user.as_groups;
  config.impersonate_extra = user.as_extra;
  return absl::OkStatus();
}

StatusOr<ClientConfig> Resolve(const Kubeconfig& kubeconfig, std::string_view wanted) {
  const std::string name(wanted.empty() ? kubeconfig.current_context : wanted);
  if (name.empty()) {
    return InvalidArgument(
        "{}: current-context is not set; choose one with `kubectl config use-context NAME` ({})",
        kubeconfig.Where(), Names(kubeconfig.contexts));
  }
  const auto* context = FindNamed(kubeconfig.contexts, name);
  if (context == nullptr) {
    return InvalidArgument("{}: there is no context {}; {}", kubeconfig.Where(), Quote(name),
                           Names(kubeconfig.contexts));
  }
  const Resolver resolver(context->file, "context", name);
  const auto* cluster = FindNamed(kubeconfig.clusters, context->value.cluster);
  if (cluster == nullptr) {
    return resolver.Error("cluster",
                          fmt::format("names {}, which is not among the clusters; {}",
                                      Quote(context->value.cluster), Names(kubeconfig.clusters)));
  }
  ClientConfig config;
  config.ns = context->value.ns.empty() ? "default" : context->value.ns;
  RETURN_IF_ERROR(UseCluster(*cluster, config));
  if (context->value.user.empty()) return config;
  const auto* user = FindNamed(kubeconfig.users, context->value.user);
  if (user == nullptr) {
    return resolver.Error("user", fmt::format("names {}, which is not among the users; {}",
                                              Quote(context->value.user), Names(kubeconfig.users)));
  }
  RETURN_IF_ERROR(UseUser(*user, *cluster, config));
  return config;
}

// None if no file of the list is there.
StatusOr<std::optional<Kubeconfig>> LoadFiles(const std::vector<std::string>& paths) {
  std::optional<Kubeconfig> merged;
  for (const std::string& path : paths) {
    StatusOr<std::string> text = ReadFile(path);
    if (absl::IsNotFound(text.status())) continue;
    if (!text.ok()) return text.status();
    ASSIGN_OR_RETURN(Kubeconfig parsed, ParseFile(*text, path));
    if (merged) {
      Merge(*merged, std::move(parsed));
    } else {
      merged = std::move(parsed);
    }
  }
  return merged;
}

std::vector<std::string> DefaultFiles(const Environment& environment) {
  std::vector<std::string> files;
  const std::string list = environment("KUBECONFIG");
  for (const std::string_view path : Split(list, ':')) {
    if (!path.empty()) files.emplace_back(path);
  }
  if (!files.empty()) return files;
  const std::string home = environment("HOME");
  if (!home.empty()) files.push_back(home + "/.kube/config");
  return files;
}

bool RunsInCluster(const Environment& environment) {
  return !environment("KUBERNETES_SERVICE_HOST").empty() &&
         !environment("KUBERNETES_SERVICE_PORT").empty();
}

StatusOr<ClientConfig> LoadWithoutMaster(const ConfigOptions& options) {
  if (!options.kubeconfig.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(options.kubeconfig));
    return ParseKubeconfig(text, options.kubeconfig, options.context);
  }
  if (RunsInCluster(options.environment)) return InClusterConfig(options);
  const std::vector<std::string> files = DefaultFiles(options.environment);
  ASSIGN_OR_RETURN(const std::optional<Kubeconfig> merged, LoadFiles(files));
  if (!merged) {
    return NotFound("no kubeconfig found (looked for {}); name one with --kubeconfig or KUBECONFIG",
                    files.empty() ? "~/.kube/config, but HOME is not set" : Join(files, ", "));
  }
  return Resolve(*merged, options.context);
}

}  // namespace

StatusOr<ClientConfig> ParseKubeconfig(std::string_view text, const std::string& path,
                                       std::string_view context) {
  ASSIGN_OR_RETURN(const Kubeconfig kubeconfig, ParseFile(text, path));
  return Resolve(kubeconfig, context);
}

StatusOr<ClientConfig> InClusterConfig(const ConfigOptions& options) {
  if (!RunsInCluster(options.environment)) {
    return FailedPrecondition(
        "not running in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be "
        "set");
  }
  const std::string host = options.environment("KUBERNETES_SERVICE_HOST");
  const bool ipv6 = host.find(':') != std::string::npos;
  ClientConfig config;
  config.server = fmt::format("https://{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "",
                              options.environment("KUBERNETES_SERVICE_PORT"));
  config.token_file = options.service_account + "/token";
  config.ca_file = options.service_account + "/ca.crt";
  for (const std::string& file : {config.token_file, config.ca_file}) {
    if (const Status status = ReadFile(file).status(); !status.ok()) {
      return FailedPrecondition(
          "running in a cluster, but without a service account: {}; "
          "check the pod's automountServiceAccountToken",
          Message(status));
    }
  }
  const StatusOr<std::string> ns = ReadFile(options.service_account + "/namespace");
  config.ns = ns.ok() ? std::string(Trim(*ns)) : "default";
  return config;
}

StatusOr<ClientConfig> LoadClientConfig(const ConfigOptions& options) {
  if (!options.master.empty() && options.kubeconfig.empty()) {
    ClientConfig config;
    config.server = options.master;
    config.ns = "default";
    return config;
  }
  ASSIGN_OR_RETURN(ClientConfig config, LoadWithoutMaster(options));
  if (!options.master.empty()) config.server = options.master;
  return config;
}

StatusOr<std::shared_ptr<Transport>> MakeTransport(AsioLoop& loop, const ClientConfig& config) {
  return HttpTransport::Make(loop, config);
}

}  // namespace koord::kube
