#include "model/numa/numa_hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/cpu_annotations.h"

namespace koord::model {
namespace {

using HintList = std::vector<NumaHint>;

// All resources of all providers alike, with what is to be said of them.
struct Lists {
  std::vector<HintList> lists;
  std::vector<std::string> unsatisfied;  // reasons
  std::vector<std::string> summaries;
};

std::string MasksIn(const HintList& hints, bool preferred_only) {
  std::vector<std::string> masks;
  for (const NumaHint& hint : hints) {
    if (hint.mask && (hint.preferred || !preferred_only)) masks.push_back(hint.mask->ToString());
  }
  return fmt::format("{}", fmt::join(masks, " "));
}

Lists ListsOf(std::span<const ProviderHints> providers) {
  Lists all;
  for (const ProviderHints& provider : providers) {
    if (provider.empty()) all.lists.push_back({{.mask = {}, .preferred = true}});
    for (const ResourceHints& each : provider) {
      if (each.hints.empty()) {
        all.lists.push_back({{.mask = {}, .unsatisfied = true}});
        all.unsatisfied.push_back(fmt::format("Unsatisfied NUMA {}", each.resource));
        continue;
      }
      all.lists.push_back(each.hints);
      all.summaries.push_back(fmt::format("{} prefer [{}] among [{}]", each.resource,
                                          MasksIn(each.hints, true), MasksIn(each.hints, false)));
    }
  }
  std::ranges::sort(all.summaries);
  return all;
}

class Merge {
 public:
  Merge(NumaMask all, const std::vector<HintList>& lists, const NumaExclusivity& exclusivity)
      : all_(all), lists_(lists), exclusivity_(exclusivity), best_{.mask = all} {}

  // Only combinations whose hints all name the same nodes and are preferred can be preferred: one
  // for each hint of any list that has nodes. If none is, the others matter, in the order of nested
  // loops; where they are too many to be looked at nothing is aligned.
  NumaHint Best(bool needs_preferred) {
    ConsiderPreferred();
    if (best_.preferred || needs_preferred || Combinations() > kMostCombinations) return best_;
    std::vector<const NumaHint*> chosen;
    ConsiderAll(chosen);
    return best_;
  }

 private:
  static constexpr size_t kMostCombinations = 1 << 16;

  size_t Combinations() const {
    size_t count = 1;
    for (const HintList& list : lists_) {
      count *= std::max<size_t>(list.size(), 1);
      if (count > kMostCombinations) break;
    }
    return count;
  }

  static bool IsAnywhere(const HintList& list) { return list.size() == 1 && !list.front().mask; }

  void ConsiderPreferred() {
    const auto first =
        std::ranges::find_if(lists_, [](const HintList& list) { return !IsAnywhere(list); });
    if (first == lists_.end()) return ConsiderEqual({});
    for (const NumaHint& hint : *first) ConsiderEqual(hint.mask);
  }
  // The combination in which every list that has nodes says these.
  void ConsiderEqual(const std::optional<NumaMask>& mask) {
    std::vector<const NumaHint*> chosen;
    for (const HintList& list : lists_) {
      const auto found = std::ranges::find_if(list, [&](const NumaHint& hint) {
        return hint.preferred && (IsAnywhere(list) || hint.mask == mask);
      });
      if (found == list.end()) return;
      chosen.push_back(&*found);
    }
    Consider(chosen);
  }
  void ConsiderAll(std::vector<const NumaHint*>& chosen) {
    if (chosen.size() == lists_.size()) return Consider(chosen);
    for (const NumaHint& hint : lists_[chosen.size()]) {
      chosen.push_back(&hint);
      ConsiderAll(chosen);
      chosen.pop_back();
    }
  }

  void Consider(const std::vector<const NumaHint*>& chosen) {
    const NumaHint merged = Merged(chosen);
    if (merged.mask->empty()) return;
    if (IsBetter(merged)) best_ = merged;
  }
  NumaHint Merged(const std::vector<const NumaHint*>& chosen) const {
    NumaMask mask = all_;
    const NumaHint* first = nullptr;
    NumaHint merged{.preferred = true};
    int largest = 0;
    for (const NumaHint* hint : chosen) {
      merged.preferred &= hint->preferred;
      merged.unsatisfied |= hint->unsatisfied;
      if (!hint->mask) continue;
      if (first == nullptr) first = hint;
      merged.preferred &= hint->mask == first->mask;
      mask = mask & *hint->mask;
      largest = std::max(largest, hint->mask->size());
    }
    merged.mask = mask;
    merged.unsatisfied |= first != nullptr && largest != mask.size();
    merged.preferred &= exclusivity_.Allows(mask);
    for (const NumaHint* hint : chosen) {
      if (hint->mask == merged.mask) merged.score += hint->score;
    }
    return merged;
  }
  bool IsBetter(const NumaHint& candidate) const {
    if (candidate.preferred != best_.preferred) return candidate.preferred;
    if (candidate.mask->IsNarrowerThan(*best_.mask)) return true;
    return candidate.mask->size() == best_.mask->size() && candidate.score > best_.score;
  }

  const NumaMask all_;
  const std::vector<HintList>& lists_;
  const NumaExclusivity& exclusivity_;
  NumaHint best_;
};

NumaDecision Reject(std::vector<std::string> reasons) {
  return {.admitted = false, .best = {}, .reasons = std::move(reasons)};
}

NumaDecision RejectUnaligned(const Lists& all, std::string_view between) {
  return Reject({fmt::format("Unaligned NUMA Hint cause {}", fmt::join(all.summaries, between))});
}

}  // namespace

NumaPolicy ParseNumaPolicy(std::string_view text) {
  if (text == api::kNumaTopologyBestEffort) return NumaPolicy::kBestEffort;
  if (text == api::kNumaTopologyRestricted) return NumaPolicy::kRestricted;
  if (text == api::kNumaTopologySingleNumaNode) return NumaPolicy::kSingleNumaNode;
  return NumaPolicy::kNone;
}

std::string_view ToString(NumaPolicy policy) {
  switch (policy) {
    case NumaPolicy::kNone:
      return "";
    case NumaPolicy::kBestEffort:
      return api::kNumaTopologyBestEffort;
    case NumaPolicy::kRestricted:
      return api::kNumaTopologyRestricted;
    case NumaPolicy::kSingleNumaNode:
      return api::kNumaTopologySingleNumaNode;
  }
  return "";
}

void MarkPreferred(std::vector<NumaHint>& hints, NumaPolicy policy) {
  int least = NumaMask::kMaxNodes;
  for (const NumaHint& hint : hints) least = std::min(least, hint.mask->size());
  for (NumaHint& hint : hints) {
    hint.preferred = policy == NumaPolicy::kRestricted || hint.mask->size() == least;
  }
}

bool NumaExclusivity::Allows(const std::optional<NumaMask>& mask) const {
  if (!required) return true;
  if (!mask) return false;
  return (*mask & (mask->size() == 1 ? shared : single)).empty();
}

NumaDecision MergeHints(NumaPolicy policy, NumaMask all, std::span<const ProviderHints> providers,
                        const NumaExclusivity& exclusivity) {
  if (policy == NumaPolicy::kNone) return {.admitted = true, .best = {}, .reasons = {}};
  Lists from = ListsOf(providers);
  if (policy == NumaPolicy::kBestEffort) {
    NumaHint best = Merge(all, from.lists, exclusivity).Best(false);
    if (best.unsatisfied) best = {.mask = all};
    return {.admitted = true, .best = best, .reasons = {}};
  }
  if (!from.unsatisfied.empty()) return Reject(std::move(from.unsatisfied));
  if (policy == NumaPolicy::kRestricted) {
    const NumaHint best = Merge(all, from.lists, exclusivity).Best(true);
    if (!best.preferred) return RejectUnaligned(from, " & ");
    return {.admitted = true, .best = best, .reasons = {}};
  }
  for (HintList& list : from.lists) {
    std::erase_if(list, [](const NumaHint& hint) {
      return !hint.preferred || (hint.mask && hint.mask->size() != 1);
    });
  }
  NumaHint best = Merge(all, from.lists, exclusivity).Best(true);
  if (!best.preferred) return RejectUnaligned(from, ",");
  if (best.mask == all) best.mask.reset();
  return {.admitted = true, .best = best, .reasons = {}};
}

}  // namespace koord::model
