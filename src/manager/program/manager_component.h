#pragma once
#include <memory>

#include "manager/program/manager_app.h"
#include "manager/program/manager_options.h"
#include "manager/webhook/server/webhook_server.h"
#include "program/program.h"

namespace koord::manager {

// koord-manager as a component: watches the cluster on standby too and runs its controllers while
// it leads. Webhooks are answered, and their certificates kept, by every replica, unless the
// feature gate WebhookFramework is off; apart from that only the leader writes.
class ManagerComponent final : public program::Component {
 public:
  ManagerComponent(program::Environment& environment, const ManagerOptions& options);

  void Start(Task ready) override;
  void Lead(const program::Leadership& leadership) override;
  void Stop(Task done) override;

 private:
  void MakeWebhooks(program::Environment& environment, const ManagerOptions& options);
  bool leads() const { return leadership_ != nullptr && leadership_->is_leader(); }

  const program::Leadership* leadership_ = nullptr;  // null: not yet
  kube::Client client_;                              // writes only while this instance leads
  kube::Client replica_client_;                      // of every replica
  ManagerApp app_;
  std::unique_ptr<webhook::WebhookServer> webhooks_;  // null: there are none
};

}  // namespace koord::manager
