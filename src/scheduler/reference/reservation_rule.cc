// What reservations have to say about where a pod goes and which of them it draws from.
#include <fmt/format.h>

#include <algorithm>

#include "api/keys.h"
#include "kube/objects/pod_resources.h"
#include "scheduler/reference/charged.h"
#include "scheduler/reference/matching.h"
#include "scheduler/reference/plain_reservation.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {
namespace {

constexpr const char* kNoneMatches = "node(s) no reservations match reservation affinity";

const std::string* AnnotationOf(const PlainPod& pod, std::string_view key) {
  return kube::FindValue(pod.meta().annotations, key);
}

class Reservation final : public Rule {
 public:
  explicit Reservation(ReservationArgs args) : args_(std::move(args)) {}

  // Those that the pod may use hold nothing as far as it is concerned, wherever it looks.
  void Restore(View& view, const PlainPod& pod) const override {
    auto matches = std::make_shared<ReservationMatches>();
    if (!pod.is_reservation) *matches = MatchReservations(view, pod);
    for (const auto& [node, usable] : matches->usable) {
      for (const PlainReservation& each : usable) std::erase(view.pods_on.at(node), each.pod);
    }
    view.reservations = std::move(matches);
  }

  PreFilterAnswer PreFilter(const View& view, const PlainPod& pod) const override {
    if (pod.is_reservation) return {WhyNoReservation(view, pod)};
    const ReservationMatches& matches = *view.reservations;
    if (!matches.error.empty()) return {Verdict::Error(matches.error)};
    if (matches.must_use) return {.limit = matches.recorded, .none_reason = kNoneMatches};
    return {matches.recorded.empty() ? Verdict::Skip() : Verdict::Success()};
  }

  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    if (pod.is_reservation) return FilterReservePod(view, pod, node);
    const ReservationMatches& matches = *view.reservations;
    const auto& usable = matches.On(node.name());
    if (usable.empty()) {
      return matches.must_use ? Verdict::Unresolvable(kNoneMatches) : Verdict();
    }
    if (matches.ignores_all) return {};
    std::set<std::string> shortages;
    std::vector<std::string> reasons;
    for (const PlainReservation& each : usable) {
      if (!MayDraw(view, pod, each)) continue;
      const std::set<std::string> of_node = NodeShortages(view, pod, node, &each);
      const std::vector<std::string> of_it = ReservationShortages(view, pod, each);
      if (of_node.empty() && of_it.empty()) return {};
      shortages.insert(of_node.begin(), of_node.end());
      reasons.insert(reasons.end(), of_it.begin(), of_it.end());
    }
    if (matches.must_use) return NoneWillDo(shortages, reasons);
    if (shortages.empty()) shortages = NodeShortages(view, pod, node, nullptr);
    return shortages.empty() ? Verdict() : NoneWillDo(shortages, {});
  }

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    const ReservationMatches& matches = *view.reservations;
    if (pod.is_reservation || matches.ignores_all || matches.recorded.empty()) {
      return {Verdict::Skip()};
    }
    // The first node with the smallest order is preferred, and in which order they come is nowhere
    // laid down. Whichever has the largest total among them could be that first one, and then has
    // the total that it has if all of them are preferred.
    int64_t least = 0;
    for (const PlainNode* node : nodes) least = SmallerOrder(least, OrderOf(view, *node));
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) {
      const PlainReservation* drawn = Nominated(view, pod, *node);
      int64_t score = drawn == nullptr ? 0 : ScoreReservation(view, pod, *drawn);
      if (least != 0 && OrderOf(view, *node) == least) score = 1000;
      scores.push_back(score);
    }
    NormalizeByLargest(scores, false);
    return {{}, scores};
  }

  std::string DrawnFrom(const View& view, const PlainPod& pod,
                        const PlainNode& node) const override {
    if (pod.is_reservation || view.reservations->ignores_all) return "";
    const PlainReservation* drawn = Nominated(view, pod, node);
    if (drawn == nullptr) return view.reservations->must_use ? kNoneMatches : "";
    const bool leaves = drawn->object->metadata.deletion_timestamp.has_value();
    return leaves ? "target reservation is terminating" : drawn->uid();
  }

  std::vector<std::string> SayWhy(const View& view, const PlainPod& pod,
                                  const ReasonsByNode& reasons) const override {
    const ReservationMatches& matches = *view.reservations;
    int64_t owner = 0;
    for (const auto& [node, counts] : matches.counts) owner += counts.owner;
    if (pod.is_reservation || (owner == 0 && !matches.must_use)) return {};
    std::vector<std::string> lines;
    const auto add = [&](int64_t ReservationMatches::Counts::*part, std::string_view text) {
      int64_t count = 0;
      for (const auto& [node, counts] : matches.counts) count += counts.*part;
      if (count > 0) lines.push_back(fmt::format("{} Reservation(s) {}", count, text));
    };
    using Counts = ReservationMatches::Counts;
    add(&Counts::name_matched, "exactly matches the requested reservation name");
    add(&Counts::name_unmatched, "didn't match the requested reservation name");
    add(&Counts::affinity, "didn't match affinity rules");
    add(&Counts::unschedulable, "is unschedulable");
    add(&Counts::not_exact, "is not exact matched");
    std::map<std::string, int64_t> taints, of_nodes;
    for (const auto& [node, counts] : matches.counts) {
      for (const auto& [text, count] : counts.taints) taints[text] += count;
      CountNodeReasons(counts, reasons(node), of_nodes);
    }
    std::set<std::string> sorted;
    for (const auto& [text, count] : taints) {
      sorted.insert(fmt::format("{} Reservation(s) had untolerated taint {}", count, text));
    }
    lines.insert(lines.end(), sorted.begin(), sorted.end());
    sorted.clear();
    for (const auto& [text, count] : of_nodes) {
      sorted.insert(fmt::format("{} Reservation(s) for node reason that {}", count, text));
    }
    lines.insert(lines.end(), sorted.begin(), sorted.end());
    lines.push_back(fmt::format("{} Reservation(s) matched owner total", owner));
    return lines;
  }

 private:
  // ---- Reservations that want a node themselves

  static const api::Reservation* ObjectOf(const View& view, const PlainPod& pod) {
    return view.cluster.objects.reservations.Find(
        *AnnotationOf(pod, api::kAnnotationReservationName));
  }

  static Verdict WhyNoReservation(const View& view, const PlainPod& pod) {
    const api::Reservation* object = ObjectOf(view, pod);
    if (object == nullptr) return Verdict::Error("cannot get reservation");
    const Status valid = api::Validate(object->spec);
    return valid.ok() ? Verdict() : Verdict::Error(std::string(Message(valid)));
  }

  static Verdict FilterReservePod(const View& view, const PlainPod& pod, const PlainNode& node) {
    const std::string* pinned = AnnotationOf(pod, api::kAnnotationReservationNode);
    if (pinned != nullptr && *pinned != node.name()) {
      return Verdict::Unresolvable("node(s) didn't match the nodeName specified by reservation");
    }
    const std::string& policy = ObjectOf(view, pod)->spec.allocate_policy;
    for (const PlainReservation& each : OpenReservations(view)) {
      if (each.node() != node.name()) continue;
      if (policy.empty() != each.object->spec.allocate_policy.empty()) {
        return Verdict::Unresolvable("node(s) reservation allocate policy conflict");
      }
    }
    return {};
  }

  // ---- Room

  bool IsIgnored(const std::string& resource) const {
    const size_t slash = resource.find('/');
    if (std::ranges::count(args_.ignored_resources, resource) > 0) return true;
    return slash != std::string::npos && slash > 0 &&
           std::ranges::count(args_.ignored_resource_groups, resource.substr(0, slash)) > 0;
  }

  static int64_t Used(const View& view, const PlainReservation& reservation,
                      const std::string& resource) {
    int64_t used = 0;
    for (const PlainPod* owner : OwnersOf(view, reservation)) {
      used += AmountOf(owner->requests, resource);
    }
    return used;
  }

  // Of what a pod asks for, why a node will not do if the pod draws from one reservation (null:
  // none) and all others keep what they hold.
  std::set<std::string> NodeShortages(const View& view, const PlainPod& pod, const PlainNode& node,
                                      const PlainReservation* drawn) const {
    const auto& usable = view.reservations->On(node.name());
    View all = view;
    for (const PlainReservation& each : usable) all.pods_on.at(node.name()).push_back(each.pod);
    std::set<std::string> shortages;
    // One without owners keeps a place for the first of them.
    const int64_t place = drawn != nullptr && OwnersOf(view, *drawn).empty() ? 1 : 0;
    if (PodCount(all, node) - place + 1 > node.allocatable_pods) {
      shortages.insert("Insufficient pods by node");
    }
    for (const auto& [resource, request] : pod.requests) {
      if (request <= 0 || IsIgnored(resource)) continue;
      const int64_t free = AmountOf(node.allocatable, resource) - Requested(all, node, resource);
      const int64_t left = drawn == nullptr ? 0 : Left(view, *drawn, resource);
      if (request > free + left) shortages.insert(fmt::format("Insufficient {} by node", resource));
    }
    for (const PlainReservation& each : usable) {
      if (&each != drawn && PortsConflict(pod, *each.pod)) {
        shortages.insert("node(s) didn't have free ports for the requested pod ports");
      }
    }
    return shortages;
  }

  // What a reservation has left for one more.
  static int64_t Left(const View& view, const PlainReservation& reservation,
                      const std::string& resource) {
    return std::max<int64_t>(0, AmountOf(CountedAmounts(reservation.reserved), resource) -
                                    Used(view, reservation, resource) -
                                    AmountOf(reservation.kept_back, resource));
  }

  // Of what a pod asks for, what a Restricted reservation has too little of.
  std::vector<std::string> ReservationShortages(const View& view, const PlainPod& pod,
                                                const PlainReservation& drawn) const {
    if (!drawn.restricted()) return {};
    std::vector<std::string> reasons;
    const auto add = [&](std::string_view what, int64_t request, int64_t used, int64_t capacity) {
      const bool by_name = view.reservations->wanted_name == drawn.name();
      reasons.push_back(
          by_name ? fmt::format("Reservation(s) {}, requested: {}, used: {}, capacity: {}", what,
                                request, used, capacity)
                  : fmt::format("Reservation(s) {}", what));
    };
    if (drawn.reserved.contains("pods")) {
      const auto used = static_cast<int64_t>(OwnersOf(view, drawn).size());
      const int64_t capacity = drawn.reserved.at("pods").Value();
      if (used + 1 > capacity) add("Too many pods", 1, used, capacity);
    }
    const Amounts reserved = CountedAmounts(drawn.reserved);
    for (const std::string& name : drawn.names) {
      const int64_t request = AmountOf(pod.requests, name);
      if (request == 0 || IsIgnored(name)) continue;
      const int64_t capacity = AmountOf(reserved, name) - AmountOf(drawn.kept_back, name);
      const int64_t used = Used(view, drawn, name);
      if (request > capacity - used) {
        add(fmt::format("Insufficient {}", name), request, used, capacity);
      }
    }
    return reasons;
  }

  // One that shares no resource name with a pod is only for those who must use one. A name counts
  // also where the amount is 0.
  static bool MayDraw(const View& view, const PlainPod& pod, const PlainReservation& drawn) {
    const kube::ResourceList asked = kube::PodRequests(*pod.pod);
    return view.reservations->must_use || std::ranges::any_of(asked, [&](const auto& each) {
             return drawn.names.contains(each.first);
           });
  }

  static Verdict NoneWillDo(const std::set<std::string>& shortages,
                            const std::vector<std::string>& reasons) {
    Verdict verdict{Code::kUnschedulable, {shortages.begin(), shortages.end()}};
    verdict.reasons.insert(verdict.reasons.end(), reasons.begin(), reasons.end());
    if (verdict.reasons.empty()) {
      verdict.reasons.emplace_back("node(s) no reservation(s) to meet the requirements");
    }
    return verdict;
  }

  // ---- Which one

  // The one that a pod draws from on a node; null: none.
  const PlainReservation* Nominated(const View& view, const PlainPod& pod,
                                    const PlainNode& node) const {
    const auto& usable = view.reservations->On(node.name());
    if (usable.size() == 1 && view.reservations->must_use) return &usable.front();
    std::vector<const PlainReservation*> candidates;
    for (const PlainReservation& each : usable) {
      if (MayDraw(view, pod, each) && NodeShortages(view, pod, node, &each).empty() &&
          ReservationShortages(view, pod, each).empty()) {
        candidates.push_back(&each);
      }
    }
    const bool ordered =
        std::ranges::any_of(candidates, [](const auto* each) { return each->order() != 0; });
    if (ordered) std::erase_if(candidates, [](const auto* each) { return each->order() == 0; });
    const auto best = std::ranges::min_element(candidates, {}, [&](const PlainReservation* each) {
      return std::tuple(ordered ? each->order() : -ScoreReservation(view, pod, *each),
                        each->object->metadata.creation_timestamp, each->name());
    });
    return best == candidates.end() ? nullptr : *best;
  }

  // How full it becomes.
  static int64_t ScoreReservation(const View& view, const PlainPod& pod,
                                  const PlainReservation& drawn) {
    const kube::ResourceList asked = kube::PodRequests(*pod.pod);
    int64_t sum = 0;
    int64_t count = 0;
    for (const auto& [name, amount] : drawn.reserved) {
      if (amount.IsZero()) continue;
      ++count;
      int64_t used = drawn.names.contains(name) ? Used(view, drawn, name) : 0;
      if (name != "cpu") used *= 1000;
      const __int128 taken = used + kube::AmountOf(asked, name).MilliValue();
      const int64_t room = amount.MilliValue();
      if (taken <= room) sum += static_cast<int64_t>(100 * taken / room);
    }
    return count == 0 ? 0 : sum / count;
  }

  // 0 is none.
  static int64_t SmallerOrder(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return a + b;
    return std::min(a, b);
  }
  static int64_t OrderOf(const View& view, const PlainNode& node) {
    int64_t least = 0;
    for (const PlainReservation& each : view.reservations->On(node.name())) {
      least = SmallerOrder(least, each.order());
    }
    return least;
  }

  // ---- Why not

  static void CountNodeReasons(const ReservationMatches::Counts& counts,
                               const std::vector<std::string>& reasons,
                               std::map<std::string, int64_t>& of_nodes) {
    int64_t left = counts.owner - counts.name_unmatched - counts.unschedulable - counts.affinity -
                   counts.not_exact;
    for (const auto& [text, count] : counts.taints) left -= count;
    if (left <= 0) return;
    std::map<std::string, int64_t> others;
    for (const std::string& reason : reasons) {
      if (reason.starts_with("Reservation(s) ")) {
        --left;
      } else {
        ++others[reason];
      }
    }
    if (left <= 0) return;
    for (const auto& [reason, times] : others) of_nodes[reason] += left * times;
  }

  const ReservationArgs args_;
};

}  // namespace

std::unique_ptr<Rule> ReservationRule(ReservationArgs args) {
  return std::make_unique<Reservation>(std::move(args));
}

}  // namespace koord::scheduler::reference
