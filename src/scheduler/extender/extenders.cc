#include "scheduler/extender/extenders.h"

#include <algorithm>

#include "base/log.h"

namespace koord::scheduler {

struct Extenders::Round {
  std::shared_ptr<const kube::Pod> pod;
  Answer answer;
  Asked done;
};

Extenders::Extenders(std::vector<std::unique_ptr<ExtenderClient>> clients)
    : clients_(std::move(clients)) {
  std::stable_partition(clients_.begin(), clients_.end(),
                        [](const auto& each) { return !each->ignorable(); });
}

bool Extenders::AreInterestedIn(const kube::Pod& pod) const {
  return std::ranges::any_of(clients_, [&](const auto& each) {
    return (each->filters() || each->prioritizes()) && each->IsInterestedIn(pod);
  });
}

void Extenders::Ask(std::shared_ptr<const kube::Pod> pod, ExtenderNodes nodes, Asked done) {
  FilterBy(0, std::make_shared<Round>(Round{.pod = std::move(pod),
                                            .answer = {.nodes = std::move(nodes)},
                                            .done = std::move(done)}));
}

void Extenders::FilterBy(size_t next, std::shared_ptr<Round> round) {
  const auto asks = [&](const auto& each) {
    return each->filters() && each->IsInterestedIn(*round->pod);
  };
  while (next < clients_.size() && !asks(clients_[next])) ++next;
  if (next == clients_.size() || round->answer.nodes.empty()) return ScoreBy(0, std::move(round));
  Round& state = *round;
  clients_[next]->Filter(
      *state.pod, state.answer.nodes,
      [this, next, round = std::move(round)](StatusOr<ExtenderFilterResult> result) mutable {
        const ExtenderClient& client = *clients_[next];
        if (result.ok()) {
          Narrow(std::move(*result), round->answer);
        } else if (client.ignorable()) {
          LOG_INFO("Skipping extender as it returned error and has ignorable flag set",
                   {"extender", client.url()}, {"err", Message(result.status())});
        } else {
          return round->done(std::move(result).status());
        }
        FilterBy(next + 1, std::move(round));
      });
}

void Extenders::Narrow(ExtenderFilterResult result, Answer& answer) {
  StringSet left(result.nodes.begin(), result.nodes.end());
  StringSet known;
  for (const auto& refused : answer.refused) known.insert(refused.node);
  for (const auto& node : answer.nodes) {
    if (left.contains(node->metadata.name)) known.insert(node->metadata.name);
  }
  const size_t removed = std::erase_if(
      answer.nodes, [&](const auto& node) { return !left.contains(node->metadata.name); });
  answer.narrowed = answer.narrowed || removed > 0;
  for (ExtenderFilterResult::Refused& refused : result.refused) {
    if (known.insert(refused.node).second) answer.refused.push_back(std::move(refused));
  }
}

void Extenders::ScoreBy(size_t next, std::shared_ptr<Round> round) {
  const auto asks = [&](const auto& each) {
    return each->prioritizes() && each->IsInterestedIn(*round->pod);
  };
  while (next < clients_.size() && !asks(clients_[next])) ++next;
  if (next == clients_.size() || round->answer.nodes.size() <= 1) {
    return round->done(std::move(round->answer));
  }
  Round& state = *round;
  clients_[next]->Prioritize(
      *state.pod, state.answer.nodes,
      [this, next, round = std::move(round)](StatusOr<ExtenderClient::Scores> scores) mutable {
        if (scores.ok()) {
          for (const auto& [node, score] : *scores) round->answer.scores[node] += score;
        } else {
          LOG_INFO("Failed to run extender's priority function. No score given by this extender.",
                   {"extender", clients_[next]->url()}, {"err", Message(scores.status())});
        }
        ScoreBy(next + 1, std::move(round));
      });
}

struct Extenders::Eviction {
  std::shared_ptr<const kube::Pod> pod;
  std::vector<EvictionPlan> plans;
  ExtenderClient::FindPod find;
  Agreed done;
};

bool Extenders::HaveASayInEvictionsFor(const kube::Pod& pod) const {
  return std::ranges::any_of(
      clients_, [&](const auto& each) { return each->preempts() && each->IsInterestedIn(pod); });
}

void Extenders::AskToEvict(std::shared_ptr<const kube::Pod> pod, std::vector<EvictionPlan> plans,
                           ExtenderClient::FindPod find, Agreed done) {
  AgreeBy(0, std::make_shared<Eviction>(Eviction{.pod = std::move(pod),
                                                 .plans = std::move(plans),
                                                 .find = std::move(find),
                                                 .done = std::move(done)}));
}

void Extenders::AgreeBy(size_t next, std::shared_ptr<Eviction> eviction) {
  const auto asks = [&](const auto& each) {
    return each->preempts() && each->IsInterestedIn(*eviction->pod);
  };
  while (next < clients_.size() && !asks(clients_[next])) ++next;
  if (next == clients_.size() || eviction->plans.empty()) {
    return eviction->done(std::move(eviction->plans));
  }
  Eviction& state = *eviction;
  clients_[next]->Preempt(
      *state.pod, state.plans, state.find,
      [this, next,
       eviction = std::move(eviction)](StatusOr<std::vector<EvictionPlan>> left) mutable {
        const ExtenderClient& client = *clients_[next];
        if (left.ok()) {
          eviction->plans = *std::move(left);
        } else if (client.ignorable()) {
          LOG_INFO("Skipped extender as it returned error and has ignorable flag set",
                   {"extender", client.url()}, {"err", Message(left.status())});
        } else {
          return eviction->done(std::move(left).status());
        }
        AgreeBy(next + 1, std::move(eviction));
      });
}

ExtenderClient* Extenders::BinderOf(const kube::Pod& pod) const {
  // The configuration has one binder at most.
  const auto binder = std::ranges::find_if(
      clients_, [&](const auto& each) { return each->binds() && each->IsInterestedIn(pod); });
  return binder == clients_.end() ? nullptr : binder->get();
}

void Extenders::Bind(const kube::Pod& pod, std::string_view node,
                     absl::AnyInvocable<void(Verdict)> done) {
  ExtenderClient* const binder = BinderOf(pod);
  if (binder == nullptr) return done(Verdict::Skip());
  ExtenderClient& client = *binder;
  client.Bind(pod, node, [&client, done = std::move(done)](const Status& status) mutable {
    if (status.ok()) return done(Verdict::Success());
    if (!client.ignorable()) return done(Verdict::Error(std::string(Message(status))));
    LOG_INFO("Skipping extender in bind as it returned error and has ignorable flag set",
             {"extender", client.url()}, {"err", Message(status)});
    done(Verdict::Skip());
  });
}

}  // namespace koord::scheduler
