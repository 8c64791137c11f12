#include "koordlet/reporters/topology_reporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/resources.h"
#include "base/log.h"

namespace koord::koordlet {
namespace {

// The kubelet reads its configuration only when it starts.
constexpr Duration kConfigLifetime = std::chrono::minutes(1);
constexpr std::string_view kStateFile = "cpu_manager_state";

}  // namespace

TopologyReporter::TopologyReporter(EventLoop& loop, kube::Client& client, const std::string& node,
                                   NodeState& state, const NodeInfoCache& info,
                                   const FileTree& kubelet_files, KubeletClient* kubelet,
                                   Options options)
    : loop_(loop),
      state_(state),
      info_(info),
      kubelet_files_(kubelet_files),
      kubelet_(kubelet),
      options_(options),
      pause_(options.interval),
      writer_(client, api::kNodeResourceTopologies, node),
      timer_(loop) {}

void TopologyReporter::SetObject(std::shared_ptr<const api::NodeResourceTopology> object) {
  object_ = std::move(object);
  known_ = true;
}

void TopologyReporter::Start() { Round(); }
void TopologyReporter::Stop() { timer_.Cancel(); }

void TopologyReporter::Round() {
  timer_.Set(options_.interval, [this] { Round(); });
  AskKubelet();
  Update();
}

void TopologyReporter::AskKubelet() {
  if (!options_.ask_kubelet || kubelet_ == nullptr || !kubelet_->connected() || asking_) return;
  const SteadyTime now = loop_.clock().Steady();
  if (now < ask_again_) return;
  asking_ = true;
  kubelet_->GetConfig([this, now](StatusOr<KubeletConfig> config) {
    asking_ = false;
    if (!config.ok()) return OnNoConfig(now, config.status());
    known_problems_.Resolve({.object = "kubelet", .kind = "config"});
    config_ = *std::move(config);
    is_config_of_file_ = false;
    pause_ = options_.interval;
    ask_again_ = now + kConfigLifetime;
  });
}

// Refusals may last, and thousands of nodes may ask the API server.
void TopologyReporter::OnNoConfig(SteadyTime asked, const Status& why) {
  ask_again_ = asked + pause_;
  pause_ = std::min(2 * pause_, kConfigLifetime);
  if (absl::IsPermissionDenied(why) && (!config_ || is_config_of_file_)) ReadConfigFile();
  const std::string_view known = !config_             ? "not"
                                 : is_config_of_file_ ? "of its file"
                                                      : "of before";
  if (!known_problems_.IsNew({.object = "kubelet", .kind = "config"},
                             fmt::format("{}: {}", known, Message(why))))
    return;
  if (is_config_of_file_) {
    LOG_WARNING("The kubelet's configuration is taken from its file, since it cannot be asked",
                {"err", why});
  } else if (config_) {
    LOG_WARNING("The kubelet's configuration cannot be read again", {"err", why});
  } else {
    LOG_WARNING(
        "The kubelet's configuration is unknown. Until it is known, the node's topology is not "
        "reported, no pod gets CPUs or a NUMA node of its own here, and the CPUs of best-effort "
        "pods are not limited; all else goes on",
        {"err", why});
  }
}

void TopologyReporter::ReadConfigFile() {
  auto config = ReadKubeletConfigFile(kubelet_files_);
  if (!config.ok()) return;
  config_ = *std::move(config);
  is_config_of_file_ = true;
}

StatusOr<TopologyReport> TopologyReporter::Build() const {
  if (state_.node() == nullptr) return FailedPrecondition("the Node is not known yet");
  if (info_.cpu() == nullptr || info_.numa() == nullptr) {
    return FailedPrecondition("nothing is known of the processors yet");
  }
  if (options_.ask_kubelet && !config_) {
    return FailedPrecondition("the kubelet's configuration is not known yet");
  }
  std::string allocations;
  if (auto text = kubelet_files_.Read(kStateFile); text.ok()) allocations = *std::move(text);
  return BuildTopologyReport({.node = *state_.node(),
                              .cpu = *info_.cpu(),
                              .numa = *info_.numa(),
                              .pods = *state_.pods(),
                              .kubelet = options_.ask_kubelet ? &*config_ : nullptr,
                              .cpu_manager_state = allocations,
                              .report_huge_pages = options_.report_huge_pages});
}

void TopologyReporter::Update() {
  StatusOr<TopologyReport> report = Build();
  if (!report.ok()) {
    if (known_problems_.IsNew({.object = "node", .kind = "topology"}, Message(report.status()))) {
      LOG_INFO("The node's topology is not reported now", {"reason", report.status()});
    }
    return;
  }
  known_problems_.Resolve({.object = "node", .kind = "topology"});
  state_.SetTopology(std::make_shared<const TopologyView>(report->view));
  if (options_.report) Write(*report);
}

void TopologyReporter::Write(const TopologyReport& report) {
  if (!known_ || writer_.busy()) return;
  if (object_ == nullptr) return writer_.Create(NewTopologyObject(report, *state_.node()));
  const kube::Json patch = TopologyPatch(report, *object_);
  if (!patch.is_null()) writer_.Patch(patch);
}

}  // namespace koord::koordlet
