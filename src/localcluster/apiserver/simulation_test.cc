#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/sanitizer.h"
#include "base/virtual_loop.h"
#include "kube/client/client.h"
#include "kube/informer/informer.h"
#include "kube/objects/config.h"
#include "kube/resources.h"
#include "kube/transport/fault_transport.h"
#include "kube/transport/in_process_transport.h"
#include "localcluster/apiserver/api_server.h"
#include "localcluster/apiserver/storage/store.h"

// Eight clients write at random through a bad network while three informers follow. Whatever the
// seed: every acknowledged write is in the store's history with the content that was acknowledged,
// and once the network is good again the informers show exactly what the store holds.
namespace koord::apiserver::simulation_test {
namespace {

using kube::Json;

constexpr int kClients = 8;
constexpr int kInformers = 3;
constexpr int kOperations = 10'000;
constexpr int kNames = 40;
constexpr int kSeeds = TestRounds(50);
constexpr char kNamespace[] = "default";

kube::Faults BadNetwork() {
  kube::Faults faults;
  faults.refused = 0.01;
  faults.lost_answer = 0.02;
  faults.duplicate = 0.02;
  faults.delay = 0.05;
  faults.conflict = 0.01;
  faults.expired = 0.01;
  faults.too_many_requests = 0.01;
  faults.internal_error = 0.01;
  faults.dropped_watch = 0.01;
  return faults;
}

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {
    auto store = Store::Open(loop_, {});
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = std::move(*store);
    server_ = std::make_unique<ApiServer>(loop_, *store_, ApiServer::Options{.seed = seed});
    loop_.RunReady();
    Record();
    for (int i = 0; i < kClients + kInformers; ++i) AddClient(seed * 100 + i);
    for (int i = 0; i < kInformers; ++i) {
      auto& informer = informers_.emplace_back(std::make_unique<kube::Informer<kube::ConfigMap>>(
          *clients_[kClients + i], kube::kConfigMaps,
          kube::InformerOptions{.ns = kNamespace, .stream_list = i != 0, .seed = seed + i}));
      informer->Start();
    }
  }

  void Run() {
    for (int i = 0; i < kClients; ++i) NextOperation(i);
    ASSERT_TRUE(loop_.RunUntil([&] { return active_clients_ == 0; }, std::chrono::hours(100)))
        << "clients are stuck after " << started_ << " operations";
    for (auto& transport : transports_) transport->SetFaults({});
    loop_.Advance(std::chrono::minutes(20));
  }

  void CheckAcknowledged() const {
    EXPECT_GT(acknowledged_.size(), static_cast<size_t>(kOperations) / 4);
    for (const Json& object : acknowledged_) {
      const auto revision =
          std::stoull(std::string(kube::FindString(object, {"metadata", "resourceVersion"})));
      const auto it = history_.find(revision);
      ASSERT_NE(it, history_.end()) << "acknowledged revision " << revision << " is nowhere";
      ASSERT_TRUE(
          kube::Equal(*kube::Find(*it->second.object, {"data"}), *kube::Find(object, {"data"})))
          << "revision " << revision << " holds something else than was acknowledged";
    }
  }

  void CheckInformers() const {
    const auto expected = StoreVersions();
    for (const auto& informer : informers_) {
      std::map<std::string, std::string> versions;
      for (const auto& object : informer->List()) {
        versions[object->metadata.name] = object->metadata.resource_version;
      }
      EXPECT_EQ(versions, expected);
    }
  }

  // The same in every run of a seed: what was written, in which order.
  size_t TraceHash() const {
    std::string trace;
    for (const auto& [revision, change] : history_) {
      trace += std::to_string(revision) + change.key;
      if (change.object) trace += kube::Serialize(*change.object);
    }
    return std::hash<std::string>{}(trace);
  }

 private:
  struct Recorded {
    std::string key;
    std::optional<Json> object;  // none for a deletion
  };

  void Record() {
    auto subscription =
        store_->Watch("configmaps", store_->revision(), [this](std::span<const ChangePtr> changes) {
          for (const ChangePtr& change : changes) {
            Recorded& recorded = history_[change->revision];
            recorded.key = change->key;
            if (change->after) recorded.object = *kube::ParseJson(change->after->value);
          }
        });
    EXPECT_TRUE(subscription.ok()) << subscription.status();
    subscription_ = std::move(*subscription);
  }

  void AddClient(uint64_t seed) {
    auto direct = std::make_shared<kube::InProcessTransport>(loop_, *server_);
    transports_.push_back(
        std::make_shared<kube::FaultTransport>(loop_, direct, seed, BadNetwork()));
    clients_.push_back(std::make_unique<kube::Client>(
        loop_, transports_.back(), kube::Client::Options{.user_agent = "sim", .qps = 0}));
    if (clients_.size() <= kClients) ++active_clients_;
  }

  void NextOperation(int client) {
    if (started_ >= kOperations) {
      --active_clients_;
      return;
    }
    const int number = started_++;
    const std::string name = "c" + std::to_string(random_.Below(kNames));
    const auto done = [this, client](bool acknowledged) {
      return [this, client, acknowledged](StatusOr<Json> answer) {
        if (answer.ok() && acknowledged) acknowledged_.push_back(std::move(*answer));
        loop_.Post([this, client] { NextOperation(client); });
      };
    };
    const Json data{{"op", std::to_string(number)}};
    switch (random_.Below(5)) {
      case 0:
        clients_[client]->Create(kube::kConfigMaps, kNamespace,
                                 {{"metadata", {{"name", name}}}, {"data", data}}, {}, done(true));
        break;
      case 1:
        Replace(client, name, data, done(true));
        break;
      case 2:
      case 3:
        clients_[client]->Patch(kube::kConfigMaps, {kNamespace, name}, kube::PatchType::kMerge,
                                {{"data", data}}, {}, done(true));
        break;
      default:
        clients_[client]->Delete(kube::kConfigMaps, {kNamespace, name}, {}, done(false));
    }
  }

  // Read, change, write back with the version that was read.
  void Replace(int client, const std::string& name, const Json& data, kube::Client::Done done) {
    clients_[client]->Get(
        kube::kConfigMaps, {kNamespace, name},
        [this, client, name, data, done = std::move(done)](StatusOr<Json> object) mutable {
          if (!object.ok()) return done(std::move(object));
          kube::At(*object, {"data"}) = data;
          clients_[client]->Update(kube::kConfigMaps, {kNamespace, name}, *object, {},
                                   std::move(done));
        });
  }

  std::map<std::string, std::string> StoreVersions() const {
    std::map<std::string, std::string> versions;
    const std::string prefix = std::string(kNamespace) + "/";
    EXPECT_TRUE(store_
                    ->Range("configmaps", prefix, "", 0,
                            [&](const EntryPtr& entry) {
                              versions[entry->key.substr(prefix.size())] =
                                  std::to_string(entry->revision);
                              return true;
                            })
                    .ok());
    return versions;
  }

  VirtualLoop loop_;
  Random random_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Store::Subscription> subscription_;
  std::vector<std::shared_ptr<kube::FaultTransport>> transports_;
  std::vector<std::unique_ptr<kube::Client>> clients_;
  std::vector<std::unique_ptr<kube::Informer<kube::ConfigMap>>> informers_;
  std::map<Revision, Recorded> history_;
  std::vector<Json> acknowledged_;
  int started_ = 0;
  int active_clients_ = 0;
};

class SimulationTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SimulationTest, NothingAcknowledgedIsLostAndInformersAgree) {
  Simulation simulation(GetParam());
  simulation.Run();
  simulation.CheckAcknowledged();
  simulation.CheckInformers();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, ::testing::Range<uint64_t>(1, kSeeds + 1),
                         ::testing::PrintToStringParamName());

TEST(SimulationReplay, TheSameSeedGivesTheSameRun) {
  Simulation first(7);
  first.Run();
  Simulation second(7);
  second.Run();
  EXPECT_EQ(first.TraceHash(), second.TraceHash());
}

}  // namespace
}  // namespace koord::apiserver::simulation_test
