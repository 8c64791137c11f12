#include "scheduler/program/scheduler_component.h"

#include "base/log.h"
#include "base/trim_memory.h"
#include "kube/transport/http_transport.h"

namespace koord::scheduler {
namespace {

// Nobody notices it beside the time that an API server takes to answer.
constexpr Duration kRest = 5ms;

}  // namespace

StatusOr<std::unique_ptr<program::Component>> SchedulerComponent::Make(
    program::Environment& environment, const SchedulerOptions& options) {
  auto made = std::unique_ptr<SchedulerComponent>(new SchedulerComponent());
  made->is_elected_ = options.configuration().leader_election.leader_elect;
  made->delay_cache_ = options.configuration().delay_cache_until_active;
  environment.asio_loop.set_rest(kRest);
  const auto leads = [raw = made.get()] { return raw->leads(); };
  kube::Client::Options client_options = environment.client_options;
  client_options.may_write = leads;
  made->client_ = std::make_unique<kube::Client>(environment.loop, environment.transport,
                                                 std::move(client_options));
  const auto connect = [&loop = environment.asio_loop](const kube::ClientConfig& config) {
    return kube::HttpTransport::Make(loop, config);
  };
  ASSIGN_OR_RETURN(made->app_, SchedulerApp::Make(environment.loop, *made->client_,
                                                  {.configuration = options.configuration(),
                                                   .gates = environment.gates,
                                                   .seed = environment.seed,
                                                   .flush_after = options.flush_after(),
                                                   .debug = options.debug(),
                                                   .monitor = options.monitor(),
                                                   .may_write = leads,
                                                   .api = &environment.api,
                                                   .connect = connect}));
  environment.api.AddSettingProblems(options.warnings());
  for (const std::string& warning : made->app_->warnings()) LOG_WARNING(warning);
  return made;
}

void SchedulerComponent::Start(Task ready) {
  if (delay_cache_) return ready();
  TrimMemory();  // it is never larger than with the first lists: not with what it has read before
  app_->Watch();
  app_->WhenSynced([ready = std::make_shared<Task>(std::move(ready))] {
    TrimMemory();  // from now on it does little of what it has done up to here
    (*ready)();
  });
}

void SchedulerComponent::Lead(const program::Leadership& leadership) {
  leadership_ = &leadership;
  if (delay_cache_) app_->Watch();
  app_->Lead(is_elected_);
}

}  // namespace koord::scheduler
