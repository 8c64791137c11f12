#pragma once
#include <memory>
#include <string>
#include <utility>

#include "scheduler/binding/binding_cycle.h"
#include "scheduler/binding/waiting_pods.h"
#include "scheduler/cycle/attempt_observer.h"
#include "scheduler/cycle/evictor.h"
#include "scheduler/cycle/failure_reporter.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/pipeline/pipeline.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// One profile at work: its plugins, its pipeline, and what its plugins may ask for.
class Runtime final : public SchedulerHandle {
 public:
  // What all profiles share; outlives the runtime.
  struct Shared {
    SchedulingQueue* queue = nullptr;  // made after the profiles
    Nominations& nominations;
    WaitingPods& waiting;
    ObjectWriters& writers;
    AttemptObserver* observer;
  };

  Runtime(Shared& shared, kube::Client& client, std::unique_ptr<kube::EventRecorder> recorder)
      : shared_(shared),
        recorder_(std::move(recorder)),
        reporter_(shared.writers, *recorder_),
        evictor_(client, shared.writers, *recorder_) {}

  void Set(std::unique_ptr<PluginLineup> plugins, std::unique_ptr<Pipeline> pipeline,
           std::unique_ptr<BindingCycle> binding);

  const PluginLineup& plugins() const { return *plugins_; }
  Pipeline& pipeline() { return *pipeline_; }
  BindingCycle& binding() { return *binding_; }
  const std::string& name() const { return plugins_->name; }
  kube::EventRecorder& recorder() { return *recorder_; }
  FailureReporter& reporter() { return reporter_; }

  // The pod whose cycle runs.
  void set_current(std::string uid) { current_uid_ = std::move(uid); }

  RowVerdict CheckRow(PodQuery& query, const RowView& row) override;
  const RowNeeds* NeedsOf(PodQuery& query) override;
  uint64_t RowsVersion(PodQuery& query) override;
  void Preempt(const Attempt& preemptor, const std::string& node,
               std::vector<std::shared_ptr<const kube::Pod>> victims, PreemptDone done) override;
  void ForEachWaiting(const std::function<void(const Attempt&)>& visit) override;
  bool Allow(std::string_view uid, std::string_view plugin) override;
  bool Reject(std::string_view uid, std::string_view plugin, std::string reason,
              PromiseAfter promise) override;
  void Activate(const std::vector<kube::ObjectKey>& pods) override;
  std::vector<std::shared_ptr<const kube::Pod>> NominatedTo(std::string_view node) override;
  void ClearNomination(const kube::Pod& pod) override;
  std::string NominatedNodeOf(const kube::Pod& pod) override;

 private:
  Shared& shared_;
  const std::unique_ptr<kube::EventRecorder> recorder_;
  FailureReporter reporter_;
  Evictor evictor_;
  std::unique_ptr<PluginLineup> plugins_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<BindingCycle> binding_;
  std::string current_uid_;
};

}  // namespace koord::scheduler
