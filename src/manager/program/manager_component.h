#pragma once
#include <functional>
#include <memory>

#include "component/program.h"
#include "manager/app/manager_app.h"
#include "manager/program/manager_options.h"

namespace koord::manager {

// What answers the API server's questions about objects. Runs on every replica, leader or not.
class Webhooks {
 public:
  virtual ~Webhooks() = default;
  virtual void Start() = 0;
  // An error while questions cannot be answered yet: the check webhook-ready of /readyz.
  virtual Status Ready() const = 0;
  // Answers what is under way; `done` runs when that is finished.
  virtual void Stop(Task done) = 0;
};

// koord-manager as a component: watches the cluster on standby too, runs its controllers while it
// leads, and writes nothing in any other case. Webhooks are served in any case.
class ManagerComponent final : public component::Component {
 public:
  using MakeWebhooks = std::function<StatusOr<std::unique_ptr<Webhooks>>(
      component::Environment& environment, ManagerApp& app)>;

  // `make_webhooks` may be empty: then there are none. It is asked only where the feature gate
  // WebhookFramework is on.
  static StatusOr<std::unique_ptr<component::Component>> Make(component::Environment& environment,
                                                              const ManagerOptions& options,
                                                              const MakeWebhooks& make_webhooks);

  void Start(Task ready) override;
  void Lead(const component::Leadership& leadership) override;
  void Stop(Task done) override;

 private:
  ManagerComponent() = default;

  bool leads() const { return leadership_ != nullptr && leadership_->is_leader(); }

  const component::Leadership* leadership_ = nullptr;  // null: not yet
  std::unique_ptr<kube::Client> client_;               // writes only while this instance leads
  std::unique_ptr<ManagerApp> app_;
  std::unique_ptr<Webhooks> webhooks_;  // null: there are none
};

}  // namespace koord::manager
