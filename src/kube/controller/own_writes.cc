#include "kube/controller/own_writes.h"

#include <utility>

#include "kube/api_error.h"
#include "kube/informer/resource_version.h"

namespace koord::kube {

void OwnWrites::Remember(const std::string& key, const WriteResult& result) {
  const Write& write = *result.write;
  const InformerSet::Source* source = informers_.Find(write.resource);
  const bool posted = write.verb == Write::Verb::kCreate && !write.subresource.empty();
  const bool of_many = write.verb == Write::Verb::kDeleteCollection;
  if (source == nullptr || posted || of_many) return;
  Unseen unseen{.verb = write.verb,
                .source = source,
                .key = write.key,
                .give_up = clock_.Steady() + kPatience};
  if (result.answer.ok()) {
    if (result.answer->is_null()) return;
    unseen.uid = write.verb == Write::Verb::kDelete
                     ? write.options.uid
                     : FindString(*result.answer, {"metadata", "uid"});
    unseen.resource_version = FindString(*result.answer, {"metadata", "resourceVersion"});
  } else {
    // Refused: nothing happened. No answer: it may have.
    const bool lost = HttpCode(result.answer.status()) == 0;
    if (!lost || write.verb != Write::Verb::kCreate) return;
    unseen.give_up = clock_.Steady() + kPatienceIfLost;
  }
  if (!Shows(unseen)) unseen_[key].push_back(std::move(unseen));
}

std::optional<Duration> OwnWrites::Wait(const std::string& key) {
  const auto entry = unseen_.find(key);
  if (entry == unseen_.end()) return std::nullopt;
  const SteadyTime now = clock_.Steady();
  std::erase_if(entry->second,
                [&](const Unseen& write) { return now >= write.give_up || Shows(write); });
  if (!entry->second.empty()) return entry->second.front().give_up - now;
  unseen_.erase(entry);
  return std::nullopt;
}

bool OwnWrites::Shows(const Unseen& write) {
  const InformerSet::MetaPtr seen = write.source->Find(write.key);
  switch (write.verb) {
    case Write::Verb::kCreate:
      return seen != nullptr && (write.uid.empty() || seen->uid == write.uid);
    case Write::Verb::kPatch:
    case Write::Verb::kUpdate:
      return seen == nullptr || seen->uid != write.uid ||
             !IsOlderVersion(seen->resource_version, write.resource_version);
    case Write::Verb::kDelete:
      return seen == nullptr || seen->uid != write.uid || IsBeingDeleted(*seen);
    case Write::Verb::kDeleteCollection:
      break;
  }
  return true;
}

}  // namespace koord::kube
