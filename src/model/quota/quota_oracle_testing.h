#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Says what each quota of a tree gets, slowly and by the letter of the rules: whole numbers of any
// size, fractions that are never rounded, everything from scratch. Shares no code with QuotaTree.
namespace koord::model::oracle {

struct QuotaSpec {
  std::string name;
  int parent = -1;  // in the list of quotas, before this one; -1: the root
  int64_t min = 0, max = 0, weight = 0;
  bool lends = true;
  std::vector<int64_t> requests;  // of its own pods
  std::vector<int64_t> used;      // of those that run
};

struct World {
  int64_t total = 0;  // of the one resource that this is about
  bool scale_min = true;
  bool guarantee_usage = false;
  std::vector<QuotaSpec> quotas;
};

struct Answer {
  int64_t runtime = 0;
  int64_t child_request = 0;
  int64_t used = 0;
  int64_t guaranteed = 0;
};

// One for each quota. Sums must be less than 2^62.
std::vector<Answer> Solve(const World& world);

}  // namespace koord::model::oracle
