#include "scheduler/nomination/nominations.h"

#include <utility>

namespace koord::scheduler {

Nominations::Nominations(Ledger& ledger, Nominator::IsPending is_pending, Freed freed)
    : rows_(ledger),
      nominator_(std::move(is_pending),
                 [this](std::string_view node) { rows_.Set(node, nominator_.On(node)); }),
      freed_(std::move(freed)) {}

void Nominations::OnPending(const PodPtr& before, const PodPtr& after) {
  const bool moved = before == nullptr ? nominator_.Add(after) : nominator_.Update(*before, after);
  if (moved) TellFreed(*after);
}

void Nominations::Nominate(const PodPtr& pod, std::string_view node) {
  if (nominator_.Nominate(pod, node)) TellFreed(*pod);
}

void Nominations::End(const kube::Pod& pod) {
  if (nominator_.Remove(pod.metadata.uid)) TellFreed(pod);
}

std::string Nominations::Take(std::string_view uid) {
  std::string node(nominator_.NodeOf(uid));
  if (!node.empty()) nominator_.Remove(uid);
  return node;
}

void Nominations::TellFreed(const kube::Pod& pod) {
  Tell({.except_uid = pod.metadata.uid, .max_priority = pod.spec.priority.value_or(0)});
}

bool Nominations::Revoke(const kube::Pod& pod) {
  if (!nominator_.Remove(pod.metadata.uid)) return false;
  Tell({.except_uid = "", .max_priority = pod.spec.priority.value_or(0)});
  return true;
}

void Nominations::Tell(const WakeFilter& filter) const {
  if (freed_) freed_(filter);
}

}  // namespace koord::scheduler
