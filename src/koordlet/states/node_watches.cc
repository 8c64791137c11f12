#include "koordlet/states/node_watches.h"

#include <algorithm>

#include "api/resources.h"
#include "kube/resources.h"

namespace koord::koordlet {

class NodeWatches::Watch {
 public:
  virtual ~Watch() = default;
  virtual void Start() = 0;
  virtual void Stop() = 0;
  virtual bool synced() const = 0;
};

namespace {

kube::InformerOptions Selecting(std::string field_selector, uint64_t seed) {
  kube::InformerOptions options;
  options.field_selector = std::move(field_selector);
  options.seed = seed;
  options.resync = std::chrono::hours(12);
  return options;
}

}  // namespace

template <class T>
class NodeWatches::ObjectWatch final : public Watch {
 public:
  ObjectWatch(kube::Client& client, const kube::Resource& resource, const std::string& node,
              Listener<T> listener, uint64_t seed)
      : node_(node),
        listener_(std::move(listener)),
        informer_(client, resource, Selecting("metadata.name=" + node, seed)) {
    informer_.AddHandler([this](const Ptr<T>& before, const Ptr<T>& after) {
      const Ptr<T>& either = after != nullptr ? after : before;
      if (either->metadata.name == node_ && informer_.synced()) listener_(after);
    });
    informer_.WhenSynced([this] { listener_(informer_.Get({"", node_})); });
  }

  void Start() override { informer_.Start(); }
  void Stop() override { informer_.Stop(); }
  bool synced() const override { return informer_.synced(); }

 private:
  const std::string node_;
  const Listener<T> listener_;
  kube::Informer<T> informer_;
};

class NodeWatches::PodWatch final : public Watch {
 public:
  PodWatch(kube::Client& client, const std::string& node,
           std::function<void(const std::vector<Ptr<kube::Pod>>&)> listener, uint64_t seed)
      : timer_(client.loop()),
        node_(node),
        listener_(std::move(listener)),
        informer_(client, kube::kPods, Selecting("spec.nodeName=" + node, seed)) {
    informer_.AddHandler([this](const Ptr<kube::Pod>&, const Ptr<kube::Pod>&) { TellSoon(); });
    informer_.WhenSynced([this] { TellSoon(); });
  }

  void Start() override { informer_.Start(); }
  void Stop() override {
    timer_.Cancel();
    informer_.Stop();
  }
  bool synced() const override { return informer_.synced(); }

 private:
  // Many changes at once are one.
  void TellSoon() {
    if (!informer_.synced() || timer_.pending()) return;
    timer_.Set(Duration::zero(), [this] {
      std::vector<Ptr<kube::Pod>> pods = informer_.List();
      std::erase_if(pods, [this](const auto& pod) { return pod->spec.node_name != node_; });
      listener_(pods);
    });
  }

  Timer timer_;
  const std::string node_;
  const std::function<void(const std::vector<Ptr<kube::Pod>>&)> listener_;
  kube::Informer<kube::Pod> informer_;
};

NodeWatches::NodeWatches(kube::Client& client, const std::string& node, Listeners listeners,
                         uint64_t seed) {
  const auto add = [&]<class T>(const kube::Resource& resource, Listener<T> listener) {
    if (!listener) return;
    watches_.push_back(
        std::make_unique<ObjectWatch<T>>(client, resource, node, std::move(listener), ++seed));
  };
  add(kube::kNodes, std::move(listeners.node));
  add(api::kNodeSlos, std::move(listeners.slo));
  add(api::kNodeMetrics, std::move(listeners.metric));
  add(api::kNodeResourceTopologies, std::move(listeners.topology));
  add(api::kDevices, std::move(listeners.device));
  if (listeners.pods) {
    watches_.push_back(std::make_unique<PodWatch>(client, node, std::move(listeners.pods), ++seed));
  }
}

NodeWatches::~NodeWatches() = default;

void NodeWatches::Start() {
  for (const auto& watch : watches_) watch->Start();
}

void NodeWatches::Stop() {
  for (const auto& watch : watches_) watch->Stop();
}

bool NodeWatches::synced() const {
  return std::all_of(watches_.begin(), watches_.end(),
                     [](const auto& watch) { return watch->synced(); });
}

}  // namespace koord::koordlet
