#include "base/known_problems.h"

#include <utility>

namespace koord {
namespace {

std::string Joined(const ProblemKey& key) {
  std::string joined(key.object);
  joined += '\0';
  joined += key.kind;
  return joined;
}

}  // namespace

bool KnownProblems::IsNew(const ProblemKey& key, std::string_view text) {
  std::string joined = Joined(key);
  if (const auto known = texts_.find(joined); known != texts_.end()) {
    if (known->second == text) return false;
    known->second = text;
    return true;
  }
  if (texts_.size() >= limit_) texts_.clear();
  texts_.emplace(std::move(joined), text);
  return true;
}

void KnownProblems::Resolve(const ProblemKey& key) {
  if (texts_.empty()) return;  // by far the most common
  if (const auto known = texts_.find(Joined(key)); known != texts_.end()) texts_.erase(known);
}

}  // namespace koord
