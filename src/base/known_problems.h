#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/string_map.h"

namespace koord {

// What is wrong with what. Its fields are named where it is written: two texts are easily swapped.
struct ProblemKey {
  std::string_view object;
  std::string_view kind;
};

// The problems that were reported already. A pod with a bad annotation is looked at every few
// seconds; its owner wants to read of it once, and again only when it is bad in another way or is
// bad again.
class KnownProblems {
 public:
  static constexpr size_t kDefaultLimit = 1000;

  // Beyond `limit` problems all are forgotten: whatever users do, it takes little memory.
  explicit KnownProblems(size_t limit = kDefaultLimit) : limit_(limit) {}

  // True: the last text about this key was another one or there was none, and this one is to be
  // reported.
  bool IsNew(const ProblemKey& key, std::string_view text);
  // The object is fine again in this respect, or gone: the next problem is new.
  void Resolve(const ProblemKey& key);

  size_t size() const { return texts_.size(); }

 private:
  const size_t limit_;
  StringMap<std::string> texts_;
};

}  // namespace koord
