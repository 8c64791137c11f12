#include "kube/controller/informer_set.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"

namespace koord::kube {
namespace {

// By then lists have come that are to come at all.
constexpr Duration kListingCheck = std::chrono::seconds(30);

InformerSet::MetaPtr MetadataOf(const ObjectCopy& copy, const ObjectCopy::Ptr& object) {
  if (object == nullptr) return nullptr;
  return {object, &copy.Metadata(object)};
}

bool SelectSame(const InformerOptions& a, const InformerOptions& b) {
  return a.ns == b.ns && a.label_selector == b.label_selector &&
         a.field_selector == b.field_selector;
}

}  // namespace

InformerSet::MetaPtr InformerSet::Source::Find(const ObjectKey& key) const {
  return MetadataOf(*copy_, copy_->Get(key));
}

void InformerSet::Source::Watch(
    std::function<void(const MetaPtr& before, const MetaPtr& after)> handler) const {
  copy_->AddHandler([copy = copy_, handler = std::move(handler)](const ObjectCopy::Ptr& before,
                                                                 const ObjectCopy::Ptr& after) {
    handler(MetadataOf(*copy, before), MetadataOf(*copy, after));
  });
}

InformerSet::InformerSet(Client& client, Options options)
    : client_(client), seed_(options.seed), lender_(options.lender), listing_(client.loop()) {}

void InformerSet::Start() {
  started_ = true;
  for (const Source& source : sources_) {
    if (source.owned_ != nullptr) source.copy_->Start();
  }
  OnSynced();
  TellOfUnlisted();
}

void InformerSet::Stop() {
  listing_.Cancel();
  for (const Source& source : sources_) {
    if (source.owned_ != nullptr) source.copy_->Stop();
  }
}

void InformerSet::WhenSynced(std::function<void()> callback) {
  if (synced()) return callback();
  when_synced_.push_back(std::move(callback));
}

std::vector<std::string> InformerSet::Unsynced() const {
  std::vector<std::string> kinds;
  for (const Source& source : sources_) {
    if (!source.synced()) kinds.push_back(source.resource().qualified());
  }
  return kinds;
}

const InformerSet::Source* InformerSet::Find(const Resource& resource) const {
  const auto found = std::ranges::find(sources_, resource, &Source::resource_);
  return found == sources_.end() ? nullptr : &*found;
}

const InformerSet::Source* InformerSet::FindExactly(const Resource& resource, std::type_index type,
                                                    const InformerOptions& options) const {
  const auto found = std::ranges::find_if(sources_, [&](const Source& source) {
    return source.type_ == type && source.resource_ == resource &&
           SelectSame(source.options_, options);
  });
  if (found != sources_.end()) return &*found;
  const Source* lent = lender_ != nullptr ? lender_->FindExactly(resource, type, options) : nullptr;
  // Whoever does not ask for it must not see everything again and again.
  const bool resyncs = lent != nullptr && lent->options_.resync != Duration::zero() &&
                       lent->options_.resync != options.resync;
  return resyncs ? nullptr : lent;
}

const InformerSet::Source* InformerSet::FindOrBorrow(const Resource& resource, std::type_index type,
                                                     const InformerOptions& options, Lent lent) {
  const Source* found = FindExactly(resource, type, options);
  if (found == nullptr && lent == Lent::kOrAll) found = FindExactly(resource, type, {});
  return AddBorrowed(found);
}

const InformerSet::Source* InformerSet::FindInformer(const void* informer) const {
  const auto found = std::ranges::find(sources_, informer, &Source::informer_);
  if (found != sources_.end()) return &*found;
  return lender_ != nullptr ? lender_->FindInformer(informer) : nullptr;
}

// Null if there is none to borrow.
const InformerSet::Source* InformerSet::AddBorrowed(const Source* found) {
  if (found == nullptr) return nullptr;
  const auto ours = std::ranges::find(sources_, found->informer_, &Source::informer_);
  if (ours != sources_.end()) return &*ours;
  Source borrowed = *found;
  borrowed.owned_ = nullptr;
  Add(std::move(borrowed));
  return &sources_.back();
}

void InformerSet::Add(Source source) {
  const Source& added = sources_.emplace_back(std::move(source));
  ++unsynced_;
  added.copy_->WhenSynced(scope_.Wrap([this] {
    --unsynced_;
    OnSynced();
  }));
  if (started_ && added.owned_ != nullptr) added.copy_->Start();
}

void InformerSet::TellOfUnlisted() {
  listing_.Set(kListingCheck, [this] {
    std::vector<std::string> kinds;
    for (const Source& source : sources_) {
      const bool is_ours = source.owned_ != nullptr;  // lenders tell of theirs
      if (is_ours && !source.synced()) kinds.push_back(source.resource().qualified());
    }
    if (kinds.empty()) return;
    if (const std::string text = Join(kinds, ", "); text != told_of_) {
      told_of_ = text;
      LOG_ERROR("Waiting for kinds that cannot be listed", {"kinds", text},
                {"hint",
                 "install the definitions of deploy/crds, and see that this account may list "
                 "them"});
    }
    TellOfUnlisted();
  });
}

void InformerSet::OnSynced() {
  if (!synced()) return;
  for (const auto& callback : std::exchange(when_synced_, {})) callback();
}

}  // namespace koord::kube
