#pragma once
#include <string>
#include <vector>

#include "manager/program/manager_app.h"
#include "manager/webhook/server/webhook_server.h"
#include "program/program.h"

namespace koord::manager {

// What a user may tell koord-manager on its command line.
class ManagerOptions {
 public:
  // Adds all flags to a program. Both live as long as the program runs.
  explicit ManagerOptions(program::Program& program);
  ManagerOptions(const ManagerOptions&) = delete;
  ManagerOptions& operator=(const ManagerOptions&) = delete;

  // Whether what was said can be done. The error says what is wrong.
  Status Check() const;
  // After the command line was read; without gates, seed and where to show metrics.
  const ManagerApp::Options& app() const { return app_; }
  // Likewise, without seed and sockets.
  webhook::WebhookServer::Options webhooks(const FeatureGates& gates) const;

 private:
  void AddFlags();
  StatusOr<bool> Prepare();

  program::Program& program_;
  ManagerApp::Options app_;
  webhook::WebhookServer::Options webhooks_;
  std::string metrics_address_ = ":8080";
  std::string health_address_ = ":8000";
  std::string sync_period_;
  double qps_ = 30;
  int burst_ = 50;
};

// A manager as its command line describes it, for those that run one in their own process.
struct ManagerPlan {
  ManagerApp::Options app;
  webhook::WebhookServer::Options webhooks;
  std::vector<std::string> without_effect;  // a sentence each
};
StatusOr<ManagerPlan> PlanManager(const std::vector<std::string>& arguments);

// "10.0.0.1:8080", ":8080" for all addresses, "0" for none.
StatusOr<program::PlainServingOptions> ParseListenAddress(std::string_view flag,
                                                          std::string_view text);

}  // namespace koord::manager
