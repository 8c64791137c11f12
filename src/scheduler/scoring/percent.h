#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cluster/node_table.h"

// Scores that come from how full nodes would be, a block of rows at a time: whole percents of what
// a node has, weighed over several resources. All results are exact, as if computed with integers
// of any size.
namespace koord::scheduler {

enum class Share : uint8_t {
  kFree,  // least allocated: what would be left
  kUsed,  // most allocated
};

// One resource of every node, and what a pod would add to its use.
struct ShareTerm {
  const int64_t* allocatable;              // by row
  const int64_t* used;                     // by row
  const AmountColumns* amounts = nullptr;  // the same, if there
  int64_t more = 0;                        // the pod's
  Share share = Share::kFree;
  int64_t weight = 1;  // not negative
};

ShareTerm TermOf(const NodeTable& nodes, ResourceId id, int64_t more, Share share, int64_t weight);

// The same of one node that is to be looked at as it would be: terms about row 0, from amounts that
// are kept here.
class OneRowTerms {
 public:
  explicit OneRowTerms(size_t most) { amounts_.reserve(most); }
  void Add(int64_t allocatable, int64_t used, int64_t more, Share share, int64_t weight);
  std::span<const ShareTerm> terms() const { return terms_; }
  static RowRange row() { return RowRange::First(1); }

 private:
  struct Amounts {
    int64_t allocatable;
    int64_t used;
  };
  std::vector<Amounts> amounts_;  // stay where they are: `most` at the most
  std::vector<ShareTerm> terms_;
};

// Of a node that does not have the resource.
inline constexpr int32_t kNoPercent = -1;

// percents[i] = trunc(100 * share / allocatable) of row rows.begin + i. More used than there is
// counts as all of it.
void Percents(const ShareTerm& term, RowRange rows, int32_t* percents);

enum class Absent : uint8_t {
  kLeftOut,  // a resource that a node does not have takes no part there
  kCountsAsZero,
};

// scores[i] = trunc(sum(weight * percent) / sum(weight)); `if_none` where nothing takes part.
void WeightedPercents(std::span<const ShareTerm> terms, Absent absent, int64_t if_none,
                      RowRange rows, int64_t* scores);

// means[i] = trunc(sums[i] / weights[i]), for sums below 2^24, weights below 2^17 and means up to
// about 100; `if_none` where the weight (and the sum) is 0.
void Means(const int32_t* sums, const int32_t* weights, int64_t if_none, size_t n, int64_t* means);

// Rows that a pass handles together, so that what is in between stays in the nearest cache.
inline constexpr uint32_t kScoreBlock = 512;

template <class F>
void ForEachBlock(RowRange rows, F f) {
  for (NodeRow begin = rows.begin; begin < rows.end; begin += kScoreBlock) {
    const NodeRow end(rows.end - begin > kScoreBlock ? begin + kScoreBlock : rows.end);
    f(RowRange{begin, end});
  }
}

}  // namespace koord::scheduler
