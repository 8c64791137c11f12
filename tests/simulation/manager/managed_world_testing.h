#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "kube/client/client.h"
#include "kube/transport/fault_transport.h"
#include "localcluster/apiserver/server_testing.h"
#include "manager/program/manager_app.h"
#include "simulation/manager/batch_formula_testing.h"

namespace koord::localcluster::managed {

struct Conditions {
  int nodes = 500;
  Duration length = std::chrono::hours(24);
  bool troubled = true;  // bad network and crashes, for some of the time
  // Whether a second instance watches and takes over; otherwise the same one starts again.
  bool standby = true;
  Duration report_interval = std::chrono::minutes(5);
  Duration update_threshold = std::chrono::minutes(5);  // small differences wait for that long
};

// koord-manager as one of two programs, of which one leads. The other watches and takes over.
class Instance {
 public:
  using OnWrite = std::function<void(const kube::HttpRequest&)>;
  using OnAnswer = std::function<void(const kube::HttpRequest&, bool ok)>;
  Instance(apiserver::TestServer& server, uint64_t seed, OnWrite on_write, OnAnswer on_answer);
  ~Instance();

  void Lead();
  bool leads() const { return leads_; }
  // Whether it has seen a configuration that makes sense. One that has not leaves nodes alone.
  bool informed = true;
  void SetNetwork(const kube::Faults& faults) { network_->SetFaults(faults); }
  void DropWatches() { network_->DropWatches(); }
  std::shared_ptr<kube::FaultTransport> network() const { return network_; }
  // For complaints: what it knows about a node.
  std::string Knows(const std::string& node);

 private:
  std::shared_ptr<kube::FaultTransport> network_;
  bool leads_ = false;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<manager::ManagerApp> app_;
};

// A day of a cluster: users come and go, nodes report or fall silent, administrators reconfigure,
// the manager crashes and the network fails. Everything that is checked is written down here in the
// test's own words; what it finds wrong are complaints.
class World {
 public:
  World(uint64_t seed, Conditions conditions);
  ~World();

  void Run();

  const std::vector<std::string>& complaints() const { return complaints_; }
  // Of everything that the manager has sent, and when.
  uint64_t trace_hash() const { return trace_; }

  struct Tally {
    int64_t reports = 0, patches = 0, checks = 0, exact = 0, withdrawn = 0, crashes = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  enum class What {
    kReport,
    kCheck,
    kSilence,
    kPodComes,
    kPodGoes,
    kPodEnds,
    kReserve,
    kReplaceNode,
    kConfigure,
    kCrash,
    kTakeOver,
    kTrouble,
    kCalm,
    kSweep
  };
  struct Event {
    What what;
    int node = -1;
  };
  struct Published {
    std::optional<int64_t> cpu, memory;  // of batch
  };
  struct NodeState {
    std::string name;
    SimNode sim;
    Published published;
    SteadyTime looked{};  // when something last happened that makes the manager look at it
    SteadyTime exact{};   // when it was last seen to be as the formula says
    SteadyTime written{};
    SteadyTime silent_until{};
    SteadyTime pods_changed{};
    int patches_left = 0;
    bool withdrawal_left = false;  // one patch when the report becomes too old
  };

  // ---- what happens ----
  void Plan();
  void At(SteadyTime when, What what, int node = -1) { events_.emplace(when, Event{what, node}); }
  void Do(const Event& event);
  void CreateNode(int index);
  void ReplaceNode(int index);
  void SendReport(int index);
  void AddPod(int index);
  void RemovePod(int index);
  void EndPod(int index);
  void Reserve(int index);
  void Configure();
  void Crash();
  void TakeOver();

  // ---- what must hold ----
  void Read();  // what the server shows of nodes
  void OnWrite(const kube::HttpRequest& request);
  void OnAnswer(const kube::HttpRequest& request, bool ok);
  void CheckBody(NodeState& node, const kube::HttpRequest& request);
  void Check(int index);
  void CheckServices(const NodeState& node, const Strategy& strategy, const Amount& lent);
  void Sweep();
  void Allow(NodeState& node);
  bool IsSettled(const NodeState& node);
  // The manager leads, knows what it is to do, and has a good network again.
  bool IsWell() { return IsWell(now()); }
  bool IsWell(SteadyTime at);
  Strategy StrategyOf(int index) const;
  template <class... Args>
  void Complain(fmt::format_string<Args...> format, Args&&... args);

  VirtualLoop& loop() { return server_.loop; }
  SteadyTime now() { return loop().clock().Steady(); }
  apiserver::TestAnswer Send(std::string method, std::string target, const std::string& body,
                             std::string content_type = "application/json");
  std::unique_ptr<Instance> MakeInstance();
  SteadyTime Anytime() { return SteadyTime(Duration(random_.Below(conditions_.length.count()))); }

  const Conditions conditions_;
  Random random_;
  apiserver::TestServer server_;
  std::multimap<SteadyTime, Event> events_;
  std::vector<NodeState> nodes_;
  std::map<std::string, int, std::less<>> index_;  // by name
  std::shared_ptr<apiserver::TestWriter> watch_;
  std::unique_ptr<Instance> leader_, standby_;
  std::vector<std::shared_ptr<kube::FaultTransport>> left_behind_;
  Strategy cluster_, pool_;  // pool: of the nodes that the configuration has an entry for
  int64_t next_pod_ = 0;
  size_t configurations_ = 0;
  bool configured_well_ = true;
  uint64_t starts_ = 0;
  bool trouble_ = false;
  SteadyTime calm_since_{-1h};
  SteadyTime leading_since_{-1s};
  uint64_t trace_ = 14695981039346656037u;
  std::vector<std::string> complaints_;
  Tally tally_;
};

}  // namespace koord::localcluster::managed
