#include "manager/config/slo_config_keeper.h"

#include "base/log.h"

namespace koord::manager {

SloConfigKeeper::SloConfigKeeper(kube::Informer<kube::ConfigMap>& maps, kube::ObjectKey key,
                                 Recorders recorders)
    : key_(std::move(key)), recorders_(std::move(recorders)) {
  maps.AddHandler(scope_.Wrap([this](const auto&, const auto& after) {
    if (after != nullptr && kube::KeyOf(after->metadata) == key_) Read(*after);
  }));
  maps.WhenSynced(scope_.Wrap([this] {
    if (!config_) config_ = DefaultConfig();
  }));
}

void SloConfigKeeper::Read(const kube::ConfigMap& map) {
  if (config_ && reference_.uid == map.metadata.uid && data_ == map.data) return;
  data_ = map.data;
  reference_ = {.kind = "ConfigMap",
                .ns = map.metadata.ns,
                .name = map.metadata.name,
                .uid = map.metadata.uid,
                .api_version = "v1",
                .resource_version = map.metadata.resource_version,
                .field_path = {}};
  ParsedConfig parsed = ParseConfig(map.data, config_.value_or(SloConfig{}));
  config_ = std::move(parsed.config);
  problems_ = std::move(parsed.problems);
  for (const ConfigProblem& problem : problems_) {
    LOG_WARNING("The SLO configuration is not usable as it is", {"configMap", key_.ToString()},
                {"err", problem.message});
  }
  if (tells_) TellProblems();
  for (const auto& callback : callbacks_) callback();
}

void SloConfigKeeper::Tell() {
  if (tells_) return;
  tells_ = true;
  TellProblems();
}

void SloConfigKeeper::TellProblems() {
  for (const ConfigProblem& problem : problems_) {
    recorders_(problem.component)
        .Record({.regarding = reference_,
                 .type = "Warning",
                 .reason = std::string(problem.reason),
                 .message = problem.message});
  }
}

}  // namespace koord::manager
