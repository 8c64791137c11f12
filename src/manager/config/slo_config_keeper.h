#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/scope.h"
#include "kube/events/event_recorder.h"
#include "kube/informer/informer.h"
#include "kube/objects/config.h"
#include "manager/config/slo_config.h"

namespace koord::manager {

// Keeps the configuration in force as slo-controller-config changes. Bad content never replaces a
// good one: it is told by a Warning event on the ConfigMap, and what was in force stays. So it does
// if the ConfigMap is deleted, until the next start.
class SloConfigKeeper {
 public:
  // The voice of a component.
  using Recorders = std::function<kube::EventRecorder&(std::string_view component)>;

  // `maps` may show other ConfigMaps as well, and must outlive this.
  SloConfigKeeper(kube::Informer<kube::ConfigMap>& maps, kube::ObjectKey key, Recorders recorders);

  // Null until the ConfigMap was read, or was seen not to be there.
  const SloConfig* config() const { return config_ ? &*config_ : nullptr; }
  // Runs after the configuration has changed.
  void OnChange(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }
  // From now on problems are told, those that there already are at once.
  void Tell();

  const std::vector<ConfigProblem>& problems() const { return problems_; }

 private:
  void Read(const kube::ConfigMap& map);
  void TellProblems();

  const kube::ObjectKey key_;
  const Recorders recorders_;
  std::optional<SloConfig> config_;
  ConfigData data_;
  std::vector<ConfigProblem> problems_;
  kube::ObjectReference reference_;
  bool tells_ = false;
  std::vector<std::function<void()>> callbacks_;
  Scope scope_;
};

}  // namespace koord::manager
