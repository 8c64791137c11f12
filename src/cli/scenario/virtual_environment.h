#pragma once
#include <memory>

#include "base/virtual_loop.h"
#include "cli/scenario/environment.h"
#include "cli/scenario/scenario.h"
#include "localcluster/assembly/local_cluster.h"

namespace koord::scenario {

// A fresh in-process cluster on a virtual clock.
class VirtualEnvironment final : public Environment {
 public:
  static StatusOr<std::unique_ptr<VirtualEnvironment>> Start(const Scenario& scenario);

  kube::Client& client() override { return cluster_->client(); }
  const std::string& default_namespace() const override;
  bool RunUntil(const std::function<bool()>& done) override;
  void Settle() override;
  void Advance(Duration span) override;
  Duration patience() const override { return Duration::zero(); }
  void Created(const kube::Resource&, const kube::Json&) override {}
  bool Owns(std::string_view, const kube::ObjectKey&) const override { return true; }

 private:
  VirtualEnvironment() = default;

  VirtualLoop loop_;
  std::unique_ptr<localcluster::LocalCluster> cluster_;
};

}  // namespace koord::scenario
