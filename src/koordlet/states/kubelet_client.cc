#include "koordlet/states/kubelet_client.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/codec.h"
#include "kube/json.h"

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

}  // namespace

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

StatusOr<PodListReader::Pods> PodListReader::Read(std::string_view text) {
  const size_t hash = std::hash<std::string_view>{}(text);
  if (hash == text_hash_ && text.size() == text_size_) return last_;
  ASSIGN_OR_RETURN(const kube::Json list, kube::ParseJson(text));
  const kube::json::array* items = kube::FindArray(list, {"items"});
  const kube::Json* null_items = kube::Find(list, {"items"});
  if (items == nullptr && (null_items == nullptr || !null_items->is_null())) {
    return InvalidArgument("items: expected a list of pods");
  }
  Pods pods;
  StringMap<Entry> entries;
  if (items != nullptr) {
    for (const kube::Json& item : *items) {
      if (auto pod = ReadOne(item, entries)) pods.push_back(std::move(pod));
    }
  }
  entries_ = std::move(entries);
  last_ = pods;
  text_hash_ = hash;
  text_size_ = text.size();
  return pods;
}

std::shared_ptr<const kube::Pod> PodListReader::ReadOne(const kube::Json& item,
                                                        StringMap<Entry>& entries) {
  const std::string uid(kube::FindString(item, {"metadata", "uid"}));
  const size_t hash = std::hash<kube::Json>{}(item);
  const auto before = entries_.find(uid);
  if (before != entries_.end() && before->second.hash == hash) {
    return entries.emplace(uid, before->second).first->second.pod;
  }
  StatusOr<kube::Pod> pod = kube::Decode<kube::Pod>(item);
  if (pod.ok()) {
    auto shared = std::make_shared<const kube::Pod>(*std::move(pod));
    entries[uid] = {hash, shared};
    return shared;
  }
  const std::string name = fmt::format("{}/{}", kube::FindString(item, {"metadata", "namespace"}),
                                       kube::FindString(item, {"metadata", "name"}));
  if (complaints_.IsNew(name, "decode", Message(pod.status()))) {
    LOG_ERROR("The kubelet tells of a pod that cannot be read", {"pod", name},
              {"err", pod.status()});
  }
  if (before == entries_.end()) return nullptr;
  return entries.emplace(uid, before->second).first->second.pod;
}

KubeletClient::KubeletClient(EventLoop& loop, Connect connect, Duration timeout,
                             metrics::Registry* registry)
    : loop_(loop), connect_(std::move(connect)), timeout_(timeout) {
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

void KubeletClient::Get(std::string_view path, Done<std::string> done) {
  if (transport_ == nullptr) {
    loop_.Post([done = std::move(done)]() mutable {
      done(Unavailable("it is not known yet where the kubelet is"));
    });
    return;
  }
  kube::HttpRequest request;
  request.target = path;
  request.headers.Set("Accept", "application/json");
  request.headers.Set("User-Agent", "koordlet");
  const SteadyTime start = loop_.clock().Steady();
  transport_->Send(
      std::move(request), timeout_,
      [this, alive = alive_, path = std::string(path), start,
       done = std::move(done)](StatusOr<kube::HttpResponse> answer) mutable {
        if (!*alive) return;
        if (durations_ != nullptr) {
          const std::string code = answer.ok() ? std::to_string(answer->status) : "<error>";
          durations_->With({"get", path, code})
              .Observe(std::chrono::duration<double>(loop_.clock().Steady() - start).count());
        }
        if (!answer.ok()) return done(answer.status());
        if (answer->status != 200) {
          return done(Unavailable("request {} failed, code {}", path, answer->status));
        }
        done(std::move(answer->body));
      });
}

void KubeletClient::GetPods(Done<PodListReader::Pods> done) {
  Get("/pods/", [this, done = std::move(done)](StatusOr<std::string> body) mutable {
    if (!body.ok()) return done(body.status());
    done(reader_.Read(*body));
  });
}

void KubeletClient::GetConfig(Done<KubeletConfig> done) {
  Get("/configz", [done = std::move(done)](StatusOr<std::string> body) mutable {
    if (!body.ok()) return done(body.status());
    done(ParseKubeletConfig(*body));
  });
}

}  // namespace koord::koordlet
