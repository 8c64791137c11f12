#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/asio_loop.h"
#include "cli/scenario/environment.h"
#include "cli/scenario/scenario.h"

namespace koord::scenario {

// A cluster that somebody else runs, in real time. Everything namespaced goes into a namespace of
// the scenario's own. A scenario changes only what it has made, and CleanUp removes all of that.
class LiveEnvironment final : public Environment {
 public:
  // `kubeconfig` as the flag gives it; empty follows the usual precedence.
  static StatusOr<std::unique_ptr<LiveEnvironment>> Connect(const std::string& kubeconfig);
  ~LiveEnvironment() override;

  // Why the scenario makes no sense in this cluster; nothing if it does.
  StatusOr<std::optional<std::string>> WhyNot(const Scenario& scenario);
  Status MakeNamespace();

  kube::Client& client() override { return *client_; }
  const std::string& default_namespace() const override { return ns_; }
  bool RunUntil(const std::function<bool()>& done) override;
  void Settle() override;
  void Advance(Duration span) override;
  // A cluster may be busy.
  Duration patience() const override { return std::chrono::minutes(2); }
  void Created(const kube::Resource& resource, const kube::Json& object) override;
  bool Owns(std::string_view kind, const kube::ObjectKey& key) const override;
  bool OwnsReferenced(const kube::Json& reference) const override;
  Status CleanUp() override;
  bool interrupted() const override { return interrupted_; }

 private:
  class Signals;
  struct Made {
    kube::Resource resource;
    kube::ObjectKey key;
    bool has_finalizers = false;
    std::set<std::string, std::less<>> uids = {};
  };

  LiveEnvironment();
  bool HasManager();
  void WaitForServiceAccount(const std::string& ns);
  Status DeleteNamespaces();
  Status Delete(const Made& made);
  void ReleaseFinalizers(const Made& made);
  bool IsGone(const Made& made);
  bool IsEmpty(const kube::Resource& resource, const std::string& ns);
  // False if it does not become so in time, or is interrupted.
  bool WaitUntil(const std::function<bool()>& done, Duration most = std::chrono::minutes(2));
  bool IsHeldBack(const std::string& node);

  AsioLoop loop_;
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<kube::Client> client_;
  std::string ns_;
  std::set<std::string, std::less<>> namespaces_;
  std::vector<Made> made_;
  std::vector<std::string> new_nodes_;
  bool interrupted_ = false;
};

// Why the scenario needs a cluster of its own, whatever the live one looks like: component
// configuration, or more time than anybody wants to wait for. Nothing if it does not.
std::optional<std::string> NeedsOwnCluster(const Scenario& scenario);

}  // namespace koord::scenario
