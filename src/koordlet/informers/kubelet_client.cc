#include "koordlet/informers/kubelet_client.h"

#include <fmt/format.h>

#include "kube/codec.h"
#include "kube/json.h"
#include "kube/yaml.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kAddressTypes[] = {"Hostname", "InternalIP", "ExternalIP", "InternalDNS",
                                              "ExternalDNS"};

std::string_view KnownAddressType(std::string_view type) {
  for (std::string_view known : kAddressTypes) {
    if (type == known) return known;
  }
  return "InternalIP";
}

std::string Bracketed(std::string_view address) {
  const bool is_v6 = address.find(':') != std::string_view::npos;
  return is_v6 ? fmt::format("[{}]", address) : std::string(address);
}

// Where the kubelet listens, as far as the Node says; different when it has moved.
std::string WhereIs(const kube::Node& node) {
  std::string where;
  for (const kube::NodeAddress& each : node.status.addresses) {
    where += each.type + "=" + each.address + ",";
  }
  if (node.status.daemon_endpoints) {
    where += std::to_string(node.status.daemon_endpoints->kubelet_endpoint.port);
  }
  return where;
}

constexpr std::string_view kPodsPath = "/pods/";
constexpr std::string_view kConfigPath = "/configz";
constexpr int kLongestListing = 10;                     // timeouts
constexpr uint64_t kLongestList = uint64_t{512} << 20;  // bytes, of which few are kept

kube::HttpRequest RequestFor(std::string_view path) {
  kube::HttpRequest request;
  request.target = path;
  request.headers.Set("Accept", "application/json");
  request.headers.Set("User-Agent", "koordlet");
  return request;
}

Status NotConnected() { return Unavailable("it is not known yet where the kubelet is"); }
Status TimedOut() { return absl::DeadlineExceededError("the request timed out"); }
Status DetourError(std::string_view path, int code) {
  if (code != 403) return Unavailable("{} through the API server failed, code {}", path, code);
  return absl::PermissionDeniedError(fmt::format(
      "{} through the API server failed, code 403: it wants \"get\" of nodes/proxy "
      "(deploy/koordlet/kubelet-proxy/, of the chart koordlet.kubeletProxyAccess). Or let koordlet "
      "believe the kubelet's certificate with --kubelet-skip-tls-verify (of the chart "
      "koordlet.kubeletSkipTlsVerify)",
      path));
}
Status CodeError(std::string_view path, int code) {
  if (code != 403) return Unavailable("request {} failed, code {}", path, code);
  return absl::PermissionDeniedError(fmt::format(
      "request {} failed, code 403: the kubelet's authorizer wants \"get\" of nodes/{}, and of "
      "nodes/proxy before Kubernetes 1.33 (deploy/koordlet/rbac.yaml and kubelet-proxy/, of the "
      "chart koordlet.kubeletProxyAccess)",
      path, path == kConfigPath ? "configz" : "pods"));
}

}  // namespace

struct KubeletClient::Listing {
  Listing(EventLoop& loop, Done<PodList> on_done)
      : done(std::move(on_done)), start(loop.clock().Steady()), silence(loop), deadline(loop) {}

  Done<PodList> done;
  const SteadyTime start;
  Timer silence;
  Timer deadline;
  int code = 0;  // of the answer; 0: there is none yet
  uint64_t bytes = 0;
  std::unique_ptr<kube::Transport::Stream> stream;
};

StatusOr<kube::ClientConfig> KubeletClientConfig(const kube::Node& node,
                                                 const kube::ClientConfig& api,
                                                 const KubeletOptions& options) {
  const std::string_view type = KnownAddressType(options.address_type);
  const std::string_view address = kube::AddressOf(node, type);
  if (address.empty()) return NotFound("no address matched types {}", type);
  kube::ClientConfig config;
  if (options.plain_http) {
    config.server = fmt::format("http://{}:{}", Bracketed(address), options.read_only_port);
    return config;
  }
  const int port =
      node.status.daemon_endpoints ? node.status.daemon_endpoints->kubelet_endpoint.port : 0;
  if (port <= 0 || port > 65535) {
    return NotFound("node {} does not say on which port its kubelet listens", node.metadata.name);
  }
  config = api;
  config.server = fmt::format("https://{}:{}", Bracketed(address), port);
  config.tls_server_name.clear();
  config.insecure_skip_tls_verify = options.skip_verify;
  if (options.skip_verify || !options.ca_file.empty()) {
    config.ca_data.clear();
    config.ca_file = options.skip_verify ? "" : options.ca_file;
  }
  return config;
}

StatusOr<KubeletConfig> ParseKubeletConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseJson(text));
  const kube::Json* config = kube::Find(json, {"kubeletconfig"});
  if (config == nullptr || !config->is_object()) {
    return InvalidArgument("kubeletconfig: expected an object");
  }
  return kube::Decode<KubeletConfig>(*config);
}

StatusOr<KubeletConfig> ReadKubeletConfigFile(const FileTree& kubelet_files) {
  ASSIGN_OR_RETURN(const std::string text, kubelet_files.Read("config.yaml"));
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseYaml(text));
  ASSIGN_OR_RETURN(KubeletConfig config, kube::Decode<KubeletConfig>(json));
  // The kubelet's defaults.
  if (config.cpu_manager_policy.empty()) config.cpu_manager_policy = "none";
  if (config.topology_manager_scope.empty()) config.topology_manager_scope = "container";
  return config;
}

KubeletClient::KubeletClient(EventLoop& loop, Connect connect, Duration timeout,
                             metrics::Registry* registry)
    : loop_(loop), connect_(std::move(connect)), timeout_(timeout), reader_(registry) {
  if (registry == nullptr) return;
  durations_ = &registry->AddHistograms(
      "koordlet_kubelet_request_duration_seconds", "How long the kubelet takes to answer.",
      {"verb", "path", "code"}, metrics::ExponentialBuckets(0.001, 4, 7));
}

KubeletClient::~KubeletClient() { *alive_ = false; }

Status KubeletClient::SetNode(const kube::Node& node) {
  std::string where = WhereIs(node);
  if (transport_ != nullptr && where == reached_) return absl::OkStatus();
  ASSIGN_OR_RETURN(transport_, connect_(node));
  reached_ = std::move(where);
  return absl::OkStatus();
}

void KubeletClient::Observe(std::string_view path, SteadyTime start, std::string_view code) {
  if (durations_ == nullptr) return;
  durations_->With({"get", path, code})
      .Observe(std::chrono::duration<double>(loop_.clock().Steady() - start).count());
}

void KubeletClient::GetPods(Done<PodList> done) {
  if (transport_ == nullptr) {
    loop_.Post([done = std::move(done)]() mutable { done(NotConnected()); });
    return;
  }
  reader_.Begin();
  listing_ = std::make_unique<Listing>(loop_, std::move(done));
  listing_->silence.Set(timeout_, [this] { EndListing(TimedOut()); });
  listing_->deadline.Set(kLongestListing * timeout_, [this] { EndListing(TimedOut()); });
  kube::Transport::StreamEvents events;
  events.head = [this](const kube::HttpResponse& head) { listing_->code = head.status; };
  events.data = [this](std::string_view piece) { OnPiece(piece); };
  events.end = [this](const Status& status) { EndListing(status); };
  listing_->stream = transport_->Open(RequestFor(kPodsPath), std::move(events));
}

void KubeletClient::OnPiece(std::string_view piece) {
  listing_->silence.Set(timeout_, [this] { EndListing(TimedOut()); });
  listing_->bytes += piece.size();
  const bool is_huge = listing_->bytes > kLongestList;
  const Status read = is_huge ? Unavailable("{} has more than {} bytes", kPodsPath, kLongestList)
                              : reader_.Feed(piece);
  if (!read.ok()) EndListing(read);
}

void KubeletClient::EndListing(const Status& status) {
  const std::unique_ptr<Listing> listing = std::move(listing_);  // until its callback is done
  Observe(kPodsPath, listing->start,
          listing->code == 0 ? "<error>" : std::to_string(listing->code));
  if (!status.ok()) return listing->done(status);
  if (listing->code != 200) return listing->done(CodeError(kPodsPath, listing->code));
  listing->done(reader_.Finish());
}

void KubeletClient::GetConfig(Done<KubeletConfig> done) {
  if (transport_ == nullptr) {
    loop_.Post([done = std::move(done)]() mutable { done(NotConnected()); });
    return;
  }
  kube::Transport::Done on_answer =
      [this, alive = alive_, start = loop_.clock().Steady(), is_detour = detour_ != nullptr,
       done = std::move(done)](StatusOr<kube::HttpResponse> answer) mutable {
        if (!*alive) return;
        Observe(kConfigPath, start, answer.ok() ? std::to_string(answer->status) : "<error>");
        if (!answer.ok()) return done(answer.status());
        if (answer->status != 200) {
          return done(is_detour ? DetourError(kConfigPath, answer->status)
                                : CodeError(kConfigPath, answer->status));
        }
        done(ParseKubeletConfig(answer->body));
      };
  if (detour_) return detour_(kConfigPath, std::move(on_answer));
  transport_->Send(RequestFor(kConfigPath), timeout_, std::move(on_answer));
}

}  // namespace koord::koordlet
