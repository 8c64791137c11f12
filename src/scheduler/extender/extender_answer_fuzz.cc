#include "base/fuzz.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "scheduler/extender/extender_client.h"

namespace koord::scheduler {
namespace {

class FuzzedExtender final : public kube::HttpHandler {
 public:
  explicit FuzzedExtender(kube::HttpResponse answer) : answer_(std::move(answer)) {}
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter> response) override {
    response->Finish(answer_);
  }

 private:
  const kube::HttpResponse answer_;
};

void Ask(const kube::HttpResponse& answer, bool node_cache_capable) {
  VirtualLoop loop;
  FuzzedExtender handler(answer);
  ExtenderClient client({.url_prefix = "http://extender",
                         .filter_verb = "filter",
                         .preempt_verb = "preempt",
                         .prioritize_verb = "prioritize",
                         .weight = 2,
                         .bind_verb = "bind",
                         .http_timeout = std::chrono::seconds(5),
                         .node_cache_capable = node_cache_capable},
                        std::make_shared<kube::InProcessTransport>(loop, handler));
  const auto pod = std::make_shared<kube::Pod>();
  const auto node = std::make_shared<kube::Node>();
  node->metadata.name = "n";
  int answers = 0;
  client.Filter(*pod, {node}, [&](const StatusOr<ExtenderFilterResult>& result) {
    ++answers;
    if (!result.ok()) return;
    for (const std::string& name : result->nodes) FUZZ_ASSERT(name == "n");
  });
  client.Prioritize(*pod, {node}, [&](const StatusOr<ExtenderClient::Scores>&) { ++answers; });
  client.Preempt(
      *pod, {{.node = "n", .victims = {pod}}}, [&](auto, auto) { return pod; },
      [&](const StatusOr<std::vector<EvictionPlan>>& plans) {
        ++answers;
        if (!plans.ok()) return;
        for (const EvictionPlan& plan : *plans) FUZZ_ASSERT(!plan.victims.empty());
      });
  client.Bind(*pod, "n", [&](const Status&) { ++answers; });
  loop.RunReady();
  FUZZ_ASSERT(answers == 4);
}

}  // namespace
}  // namespace koord::scheduler

// Extenders are other people's programs: every question gets an answer, however odd theirs is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const koord::kube::HttpResponse answer{.body = std::string(koord::FuzzText(data, size))};
  for (const bool by_name : {false, true}) koord::scheduler::Ask(answer, by_name);
  return 0;
}
