#include "model/quota/quota_oracle_testing.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <functional>
#include <numeric>
#include <set>

namespace koord::model::oracle {
namespace {

using Int = boost::multiprecision::cpp_int;
using Fraction = boost::multiprecision::cpp_rational;

struct Child {
  int quota;
  std::string name;
  Int weight, request, min, guaranteed;
  bool lends;
  Int gets = 0;
};

Int Floor(const Fraction& value) {
  return boost::multiprecision::numerator(value) / boost::multiprecision::denominator(value);
}

// Whole parts of `amount` in proportion to weights; units that are left over by the size of the
// fraction that was cut off, then by name.
std::map<int, Int> Apportion(const Int& amount, const std::vector<const Child*>& among) {
  Int weights = 0;
  for (const Child* child : among) weights += child->weight;
  std::map<int, Int> parts;
  if (weights == 0) return parts;
  std::vector<std::pair<Fraction, const Child*>> cut_off;
  Int left = amount;
  for (const Child* child : among) {
    const Fraction exact = Fraction(child->weight * amount, weights);
    const Int whole = Floor(exact);
    parts[child->quota] = whole;
    left -= whole;
    cut_off.emplace_back(exact - whole, child);
  }
  std::stable_sort(cut_off.begin(), cut_off.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
  });
  for (size_t i = 0; left > 0; ++i, --left) ++parts[cut_off[i].second->quota];
  return parts;
}

Int Floor(const Child& child) { return std::max(child.min, child.guaranteed); }

bool IsEnoughForAll(const Int& total, const std::vector<Child>& children) {
  Int wanted = 0;
  for (const Child& child : children) {
    const Int floor = Floor(child);
    if (child.request > floor) {
      wanted += child.weight > 0 ? child.request : floor;
    } else {
      wanted += child.lends ? child.request : floor;
    }
  }
  return wanted <= total;
}

void ScaleMins(const Int& total, std::vector<Child>& children) {
  Int sum = 0;
  for (const Child& child : children) sum += child.min;
  if (total >= sum || IsEnoughForAll(total, children)) return;
  for (Child& child : children) {
    child.min = total <= 0 ? Int(0) : Floor(Fraction(total * child.min, sum));
  }
}

void Divide(const Int& total, bool scale_min, std::vector<Child>& children) {
  if (scale_min) ScaleMins(total, children);
  Int rest = total;
  std::set<int> hungry;
  for (Child& child : children) {
    const Int floor = Floor(child);
    const bool more = child.request > floor;
    child.gets = more ? floor : child.lends ? child.request : floor;
    if (more) hungry.insert(child.quota);
    rest -= child.gets;
  }
  while (rest > 0) {
    std::vector<const Child*> among;
    for (const Child& child : children) {
      if (hungry.contains(child.quota)) among.push_back(&child);
    }
    const std::map<int, Int> parts = Apportion(rest, among);
    if (parts.empty()) return;
    rest = 0;
    for (Child& child : children) {
      if (!hungry.contains(child.quota)) continue;
      child.gets += parts.at(child.quota);
      if (child.gets < child.request) continue;
      rest += child.gets - child.request;
      child.gets = child.request;
      hungry.erase(child.quota);
    }
  }
}

class Solver {
 public:
  explicit Solver(const World& world) : world_(world), answers_(world.quotas.size()) {}

  std::vector<Answer> Run() {
    for (int i = static_cast<int>(answers_.size()) - 1; i >= 0; --i) SumUp(i);
    Distribute(-1, world_.total);
    return answers_;
  }

 private:
  bool Lends(int i) const { return world_.quotas[i].lends && !world_.guarantee_usage; }
  int64_t Limited(int i) const {
    const QuotaSpec& quota = world_.quotas[i];
    int64_t request = answers_[i].child_request;
    if (!Lends(i)) request = std::max(request, quota.min);
    return std::min(request, quota.max);
  }
  // Children stand behind their parents.
  void SumUp(int i) {
    const QuotaSpec& quota = world_.quotas[i];
    Answer& answer = answers_[i];
    answer.child_request =
        std::accumulate(quota.requests.begin(), quota.requests.end(), int64_t{0});
    answer.used = std::accumulate(quota.used.begin(), quota.used.end(), int64_t{0});
    int64_t allocated = answer.used;
    for (size_t child = i + 1; child < world_.quotas.size(); ++child) {
      if (world_.quotas[child].parent != i) continue;
      answer.child_request += Limited(static_cast<int>(child));
      answer.used += answers_[child].used;
      allocated += answers_[child].guaranteed;
    }
    if (world_.guarantee_usage) answer.guaranteed = std::max(allocated, quota.min);
  }
  void Distribute(int parent, const Int& total) {
    std::vector<Child> children;
    for (size_t i = 0; i < world_.quotas.size(); ++i) {
      const QuotaSpec& quota = world_.quotas[i];
      if (quota.parent != parent) continue;
      children.push_back({static_cast<int>(i), quota.name, quota.weight,
                          Limited(static_cast<int>(i)), quota.min, answers_[i].guaranteed,
                          Lends(static_cast<int>(i))});
    }
    Divide(total, world_.scale_min, children);
    for (const Child& child : children) {
      answers_[child.quota].runtime = static_cast<int64_t>(child.gets);
      Distribute(child.quota, child.gets);
    }
  }

  const World& world_;
  std::vector<Answer> answers_;
};

}  // namespace

std::vector<Answer> Solve(const World& world) { return Solver(world).Run(); }

}  // namespace koord::model::oracle
