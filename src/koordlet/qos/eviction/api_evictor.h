#pragma once
#include <string>
#include <string_view>

#include "base/scope.h"
#include "base/string_map.h"
#include "koordlet/qos/eviction/eviction_record.h"
#include "koordlet/qos/framework/qos_strategy.h"
#include "kube/client/client.h"
#include "kube/events/event_recorder.h"
#include "kube/eviction/pod_eviction.h"

namespace koord::koordlet {

// Asks the API server to evict pods, so that disruption budgets are honoured. What it answers is
// heard later: until then, and for two minutes after, a pod counts as leaving; one that may stay
// does not count for a while, so that others are tried.
class ApiEvictor final : public PodEvictor {
 public:
  // All of it outlives the evictor.
  ApiEvictor(kube::Client& client, kube::EventRecorder& events, EvictionRecord& record);

  Result Evict(const NodePod& pod, std::string_view reason, std::string_view message) override;
  bool WasRefused(std::string_view uid) const override;

 private:
  enum class Answer : uint8_t { kNone, kGoes, kStays };
  struct Asked {
    Answer answer = Answer::kNone;
    SteadyTime since{};
  };

  bool Stays(const Asked& asked) const;
  void Ask(std::shared_ptr<const kube::Pod> pod, std::string reason, std::string message);
  void Hear(const kube::Pod& pod, const std::string& reason, const std::string& message,
            const kube::EvictionResult& result);
  void Tell(const kube::Pod& pod, std::string_view event_reason, std::string text);
  void ForgetOld();

  kube::Client& client_;
  kube::EventRecorder& events_;
  EvictionRecord& record_;
  const Clock& clock_;
  StringMap<Asked> asked_;  // by uid
  Scope scope_;
};

}  // namespace koord::koordlet
