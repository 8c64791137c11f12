#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/informer/informer.h"
#include "kube/resources.h"
#include "kube/transport/fault_transport.h"
#include "kube/transport/in_process_transport.h"

// An informer follows a small model of an API server through a bad network. Whatever the seed: what
// it shows never goes back, and once the network is good again it shows exactly what the server
// has.
namespace koord::kube::informer_simulation_test {
namespace {

struct Thing {
  ObjectMeta metadata;
  static void Fields(auto& self, auto&& field) { field("metadata", self.metadata); }
};

class ModelServer final : public HttpHandler {
 public:
  explicit ModelServer(bool streams) : streams_(streams) {}

  void Put(const std::string& name) {
    const bool exists = objects_.contains(name);
    ++version_;
    if (!exists) uids_[name] = std::to_string(version_);
    objects_[name] = Object(name);
    Publish(exists ? "MODIFIED" : "ADDED", objects_[name]);
  }
  void Remove(const std::string& name) {
    if (objects_.erase(name) == 0) return;
    ++version_;
    Publish("DELETED", Object(name));
  }
  void Compact() { compacted_ = version_; }

  std::map<std::string, std::string> Versions() const {
    std::map<std::string, std::string> versions;
    for (const auto& [name, object] : objects_) {
      versions[name] = FindString(object, {"metadata", "resourceVersion"});
    }
    return versions;
  }

  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
    std::map<std::string, std::string, std::less<>> query;
    const size_t question = request.target.find('?');
    for (const auto part : Split(std::string_view(request.target).substr(question + 1), '&')) {
      const size_t equals = part.find('=');
      query.emplace(part.substr(0, equals), part.substr(equals + 1));
    }
    if (query["watch"] == "true") return Watch(query["resourceVersion"], query, std::move(writer));
    List(query, std::move(writer));
  }

 private:
  using Query = std::map<std::string, std::string, std::less<>>;

  Json Object(const std::string& name) const {
    return {{"kind", "Pod"},
            {"metadata",
             {{"name", name},
              {"namespace", "ns"},
              {"uid", uids_.at(name)},
              {"resourceVersion", std::to_string(version_)}}}};
  }

  static std::shared_ptr<const std::string> Event(std::string_view type, const Json& object) {
    return std::make_shared<const std::string>(Serialize({{"type", type}, {"object", object}}) +
                                               "\n");
  }

  static HttpResponse Expired() {
    ApiError error;
    error.code = 410;
    error.reason = "Expired";
    return {410, {}, Serialize(error.ToJson())};
  }

  void Publish(std::string_view type, const Json& object) {
    auto event = Event(type, object);
    history_[version_] = event;
    for (const auto& watcher : watchers_) watcher->Write(event);
  }

  // Pages of two; a chain of pages shows the moment of its first page or expires.
  void List(Query& query, std::shared_ptr<ResponseWriter> writer) {
    std::string start;
    if (!query["continue"].empty()) {
      const auto parts = Split(query["continue"], '.');
      if (parts[0] != std::to_string(version_)) return writer->Finish(Expired());
      start = parts[1];
    }
    json::array items;
    Json list{{"metadata", {{"resourceVersion", std::to_string(version_)}}}};
    for (auto it = objects_.upper_bound(start); it != objects_.end(); ++it) {
      if (query.contains("limit") && items.size() == 2) {
        At(list, {"metadata", "continue"}) = std::to_string(version_) + "." + std::prev(it)->first;
        break;
      }
      items.push_back(it->second);
    }
    At(list, {"items"}) = std::move(items);
    writer->Finish({200, {}, Serialize(list)});
  }

  void Watch(const std::string& version, Query& query, std::shared_ptr<ResponseWriter> writer) {
    const bool initial = query["sendInitialEvents"] == "true";
    if (initial && !streams_) return writer->Finish({422, {}, ""});
    const uint64_t from = ParseUint(version).value_or(0);
    if (!initial && from < compacted_) return writer->Finish(Expired());
    writer->StartStream({200, {}, ""});
    if (initial) {
      for (const auto& [name, object] : objects_) writer->Write(Event("ADDED", object));
      writer->Write(
          Event("BOOKMARK", {{"kind", "Pod"},
                             {"metadata",
                              {{"resourceVersion", std::to_string(version_)},
                               {"annotations", {{"k8s.io/initial-events-end", "true"}}}}}}));
    } else {
      for (auto it = history_.upper_bound(from); it != history_.end(); ++it) {
        writer->Write(it->second);
      }
    }
    watchers_.insert(writer);
    writer->OnDisconnect([this, weak = std::weak_ptr(writer)] { watchers_.erase(weak.lock()); });
  }

  const bool streams_;
  uint64_t version_ = 1;
  uint64_t compacted_ = 0;
  std::map<std::string, Json> objects_;
  std::map<std::string, std::string> uids_;
  std::map<uint64_t, std::shared_ptr<const std::string>> history_;
  std::set<std::shared_ptr<ResponseWriter>> watchers_;
};

void Simulate(uint64_t seed, bool streams) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << (streams ? ", streamed" : ", paged"));
  VirtualLoop loop;
  ModelServer server(streams);
  auto faults = std::make_shared<FaultTransport>(
      loop, std::make_shared<InProcessTransport>(loop, server), seed,
      Faults{.refused = 0.1,
             .lost_answer = 0.1,
             .duplicate = 0.1,
             .delay = 0.2,
             .max_delay = 3s,
             .expired = 0.1,
             .too_many_requests = 0.1,
             .internal_error = 0.1,
             .dropped_watch = 0.05});
  Client client(loop, faults, {});
  InformerOptions options;
  options.seed = seed;
  options.page_size = 2;
  Informer<Thing> informer(client, kPods, options);
  std::map<std::string, std::string> told;
  informer.AddHandler([&](const auto& before, const auto& after) {
    const std::string& name = (after ? after : before)->metadata.name;
    // Every change starts where the one before ended.
    EXPECT_EQ(told.contains(name), before != nullptr);
    if (before != nullptr) {
      EXPECT_EQ(told[name], before->metadata.resource_version);
    }
    if (before != nullptr && after != nullptr) {
      EXPECT_TRUE(
          IsOlderVersion(before->metadata.resource_version, after->metadata.resource_version));
      EXPECT_EQ(before->metadata.uid, after->metadata.uid);
    }
    if (after != nullptr) {
      told[name] = after->metadata.resource_version;
    } else {
      told.erase(name);
    }
  });
  informer.Start();
  Random random(seed);
  for (int i = 0; i < 500; ++i) {
    const std::string name = "t" + std::to_string(random.Below(8));
    random.Chance(0.6) ? server.Put(name) : server.Remove(name);
    if (random.Chance(0.02)) server.Compact();
    loop.Advance(std::chrono::milliseconds(random.Below(2000)));
  }
  faults->SetFaults({});
  loop.Advance(3min);
  EXPECT_EQ(told, server.Versions());
  std::map<std::string, std::string> shown;
  for (const auto& thing : informer.List()) {
    shown[thing->metadata.name] = thing->metadata.resource_version;
  }
  EXPECT_EQ(shown, server.Versions());
}

TEST(InformerSimulationTest, EndsEqualToTheServerWhateverTheNetworkDoes) {
  log::SetSink([](std::string_view) {});
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Simulate(seed, true);
    Simulate(seed, false);
  }
  log::SetSink(nullptr);
}

}  // namespace
}  // namespace koord::kube::informer_simulation_test
