#include "kube/serving/body_budget.h"

#include <algorithm>

namespace koord::kube {

bool BodyBudget::ExceedsShare(const std::string& peer, size_t bytes) const {
  if (peer.empty()) return false;
  const auto held = peers_.find(peer);
  return (held == peers_.end() ? 0 : held->second) + bytes > per_peer_;
}

bool BodyBudget::Take(const std::string& peer, size_t bytes) {
  if (used_ + bytes > total_ || ExceedsShare(peer, bytes)) return false;
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
  if (!peer.empty()) peers_[peer] += bytes;
  return true;
}

void BodyBudget::Give(const std::string& peer, size_t bytes) {
  used_ -= bytes;
  const auto held = peers_.find(peer);
  if (held == peers_.end()) return;
  held->second -= bytes;
  if (held->second == 0) peers_.erase(held);
}

}  // namespace koord::kube
