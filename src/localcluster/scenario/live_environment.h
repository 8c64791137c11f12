#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/asio_loop.h"
#include "localcluster/scenario/environment.h"

namespace koord::scenario {

// A cluster that somebody else runs, in real time. Everything namespaced goes into a namespace of
// the scenario's own, which is deleted at the end.
class LiveEnvironment final : public Environment {
 public:
  // `kubeconfig` as the flag gives it; empty follows the usual precedence.
  static StatusOr<std::unique_ptr<LiveEnvironment>> Connect(const std::string& kubeconfig);
  ~LiveEnvironment() override;

  kube::Client& client() override { return *client_; }
  const std::string& default_namespace() const override { return ns_; }
  bool RunUntil(const std::function<bool()>& done) override;
  void Settle() override {}  // expectations wait instead
  void Advance(Duration span) override;
  Duration patience() const override { return std::chrono::seconds(30); }
  void Created(const kube::Resource& resource, const kube::ObjectKey& key) override;

 private:
  LiveEnvironment() = default;
  Status CreateNamespace();

  AsioLoop loop_;
  std::unique_ptr<kube::Client> client_;
  std::string ns_;
  std::vector<std::pair<kube::Resource, kube::ObjectKey>> cluster_scoped_;
};

}  // namespace koord::scenario
