#pragma once
#include <memory>

#include "program/program.h"
#include "scheduler/program/scheduler_app.h"
#include "scheduler/program/scheduler_options.h"

namespace koord::scheduler {

// koord-scheduler as a component: watches the cluster on standby too, places pods while it leads,
// and writes nothing in any other case.
class SchedulerComponent final : public program::Component {
 public:
  static StatusOr<std::unique_ptr<program::Component>> Make(program::Environment& environment,
                                                            const SchedulerOptions& options);

  void Start(Task ready) override;
  void Lead(const program::Leadership& leadership) override;
  void Stop(Task done) override { app_->Stop(std::move(done)); }

 private:
  SchedulerComponent() = default;

  bool leads() const { return leadership_ != nullptr && leadership_->is_leader(); }

  const program::Leadership* leadership_ = nullptr;  // null: not yet
  std::unique_ptr<kube::Client> client_;             // writes only while this instance leads
  std::unique_ptr<SchedulerApp> app_;
  bool is_elected_ = true;    // among several
  bool delay_cache_ = false;  // until it leads
};

}  // namespace koord::scheduler
