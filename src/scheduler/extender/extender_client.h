#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/scope.h"
#include "base/status.h"
#include "base/string_map.h"
#include "kube/json.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/transport/transport.h"
#include "scheduler/config/scheduler_configuration.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

using ExtenderNodes = std::vector<std::shared_ptr<const kube::Node>>;

// What an extender says about nodes: which of those that it was shown can do, and why others
// cannot. A node may be left out without a word.
struct ExtenderFilterResult {
  struct Refused {
    std::string node;
    std::string why;
    bool unresolvable = false;  // preemption would not help
  };
  std::vector<std::string> nodes;
  std::vector<Refused> refused;
};

// One extender: a web service that speaks Kubernetes' extender protocol (v1). Objects are sent with
// what the scheduler itself reads of them.
class ExtenderClient {
 public:
  // `transport` leads to the urlPrefix. Every answer comes within the extender's httpTimeout, on
  // the loop, never inside the call; none comes once the client is gone.
  ExtenderClient(Extender settings, std::shared_ptr<kube::Transport> transport);

  bool filters() const { return !settings_.filter_verb.empty(); }
  bool prioritizes() const { return !settings_.prioritize_verb.empty(); }
  bool preempts() const { return !settings_.preempt_verb.empty(); }
  bool binds() const { return !settings_.bind_verb.empty(); }
  bool ignorable() const { return settings_.ignorable; }
  const std::string& url() const { return settings_.url_prefix; }
  // It manages everything, or something that a container of the pod asks for.
  bool IsInterestedIn(const kube::Pod& pod) const;

  template <class Result>
  using Done = absl::AnyInvocable<void(StatusOr<Result>)>;
  void Filter(const kube::Pod& pod, const ExtenderNodes& nodes, Done<ExtenderFilterResult> done);
  // What to add to the totals of nodes.
  using Scores = StringMap<int64_t>;
  void Prioritize(const kube::Pod& pod, const ExtenderNodes& nodes, Done<Scores> done);
  // What is left of the plans, with victims of the extender's choice. `find` knows the pods of a
  // node by uid.
  using FindPod =
      std::function<std::shared_ptr<const kube::Pod>(std::string_view node, std::string_view uid)>;
  void Preempt(const kube::Pod& pod, const std::vector<EvictionPlan>& plans, FindPod find,
               Done<std::vector<EvictionPlan>> done);
  void Bind(const kube::Pod& pod, std::string_view node, absl::AnyInvocable<void(Status)> done);

 private:
  kube::Json Args(const kube::Pod& pod, const ExtenderNodes& nodes) const;
  StatusOr<ExtenderFilterResult> ReadFilterResult(const kube::Json& answer,
                                                  const StringSet& shown) const;
  StatusOr<std::vector<EvictionPlan>> ReadPlans(const kube::Json& answer,
                                                const FindPod& find) const;
  StatusOr<Scores> ReadScores(const kube::Json& answer) const;
  void Send(const std::string& verb, const kube::Json& args, Done<kube::Json> done);
  StatusOr<kube::Json> ReadAnswer(const std::string& verb,
                                  const StatusOr<kube::HttpResponse>& answer) const;
  std::string UrlOf(const std::string& verb) const;

  const Extender settings_;
  const std::shared_ptr<kube::Transport> transport_;
  Scope scope_;
};

}  // namespace koord::scheduler
