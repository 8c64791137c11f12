#include "localcluster/apiserver/read/watch.h"

#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_text.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/read/list_options.h"
#include "localcluster/apiserver/read/read.h"
#include "localcluster/apiserver/read/selection.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

constexpr Duration kBookmarkEvery = std::chrono::minutes(1);
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds(2);
constexpr Duration kSlowReader = std::chrono::seconds(5);
constexpr size_t kSlowChunks = 1000;
constexpr size_t kHopelessChunks = 100'000;
// Initial events are sent in pieces of about this size.
constexpr size_t kPiece = 64 << 10;
constexpr int64_t kMinTimeout = 1800;
constexpr char kInitialEnd[] = "k8s.io/initial-events-end";

Status ExpiredRevision(Revision wanted, Revision oldest) {
  return Error(410, "Expired", fmt::format("too old resource version: {} ({})", wanted, oldest));
}

}  // namespace

class Watches::Watch : public std::enable_shared_from_this<Watches::Watch> {
 public:
  Watch(Watches& owner, uint64_t id, RequestPtr request, ListOptions options, Selection selection)
      : owner_(owner),
        core_(owner.core_),
        id_(id),
        request_(std::move(request)),
        options_(std::move(options)),
        selection_(std::move(selection)),
        prefix_(ListPrefix(*request_)),
        end_(core_.loop),
        bookmark_(core_.loop),
        slow_(core_.loop) {}

  void Start();
  void End();  // closes the stream cleanly
  // Lets go of everything that belongs to others: what is left may be destroyed at any time.
  void Release();
  std::string stored_as() const { return request_->info->stored_as(); }

 private:
  void StartFrom(Revision revision);
  void SendInitial();
  void SendInitialEntries(const std::vector<EntryPtr>& entries, Revision revision);
  void Subscribe(Revision after);
  void OnChanges(std::span<const ChangePtr> changes);
  void OnChange(const Change& change);
  void Send(EventType type, const Change& change, const Entry& entry);
  void Fail(const Status& status);
  void SetTimers();
  void ScheduleBookmark();
  void SendBookmark(Revision revision, bool initial_end);
  std::string BookmarkObject(Revision revision, bool initial_end) const;
  std::string Rendered(const Entry& entry);
  void Write(Frame frame);
  void CutOff();
  void WriteText(std::string text) { Write(std::make_shared<const std::string>(std::move(text))); }
  bool Matches(const EntryPtr& entry) const {
    return entry != nullptr && selection_.Matches(*entry);
  }

  Watches& owner_;
  Core& core_;
  const uint64_t id_;
  const RequestPtr request_;
  const ListOptions options_;
  const Selection selection_;
  const std::string prefix_;
  std::unique_ptr<Store::Subscription> subscription_;
  Revision delivered_ = 0;
  bool columns_sent_ = false;  // tables describe their columns once
  bool ended_ = false;
  SteadyTime deadline_{};
  Timer end_;
  Timer bookmark_;
  Timer slow_;
  Scope scope_;
};

void Watches::Watch::Start() {
  StartStream(core_, *request_);
  request_->writer->OnDisconnect(scope_.Wrap([this] { owner_.Remove(id_); }));
  SetTimers();
  const bool from_nothing = !options_.has_revision || options_.revision == 0;
  if (options_.send_initial_events.value_or(from_nothing)) {
    core_.WhenReached(options_.revision, scope_.Wrap([this](bool reached) {
      if (reached) return SendInitial();
      Fail(RevisionTooLarge(options_.revision, core_.store.revision()));
    }));
  } else {
    StartFrom(from_nothing ? core_.store.revision() : options_.revision);
  }
}

void Watches::Watch::StartFrom(Revision revision) {
  if (const Revision oldest = core_.store.oldest_revision(stored_as()); revision < oldest) {
    return Fail(ExpiredRevision(revision, oldest));
  }
  if (revision > core_.store.revision()) {
    return Fail(ExpiredRevision(revision, core_.store.revision()));
  }
  Subscribe(revision);
}

void Watches::Watch::SendInitial() {
  std::vector<EntryPtr> entries;
  const Revision revision = core_.store.revision();
  const Status status =
      core_.store.Range(stored_as(), prefix_, prefix_, 0, [&](const EntryPtr& entry) {
        if (Matches(entry)) entries.push_back(entry);
        return true;
      });
  if (!status.ok()) return Fail(status);
  core_.WhenDurable(revision, scope_.Wrap([this, entries = std::move(entries), revision] {
    SendInitialEntries(entries, revision);
    Subscribe(revision);
  }));
}

void Watches::Watch::SendInitialEntries(const std::vector<EntryPtr>& entries, Revision revision) {
  std::string text;
  for (const EntryPtr& entry : entries) {
    if (text.empty()) text.reserve(std::min(kPiece + 8192, entries.size() * 2048));
    AppendFrame(text, EventType::kAdded, Rendered(*entry));
    if (text.size() >= kPiece) WriteText(std::exchange(text, {}));
  }
  if (!text.empty()) WriteText(std::move(text));
  delivered_ = revision;
  if (options_.bookmarks) SendBookmark(revision, true);
}

void Watches::Watch::Subscribe(Revision after) {
  if (ended_) return;
  auto subscription = core_.store.Watch(stored_as(), after,
                                        scope_.Wrap([this](auto changes) { OnChanges(changes); }));
  if (!subscription.ok()) {
    return Fail(ExpiredRevision(after, core_.store.oldest_revision(stored_as())));
  }
  delivered_ = after;
  subscription_ = std::move(*subscription);
}

void Watches::Watch::OnChanges(std::span<const ChangePtr> changes) {
  const auto alive = shared_from_this();
  for (const ChangePtr& change : changes) {
    if (ended_) return;
    OnChange(*change);
    delivered_ = change->revision;
  }
}

void Watches::Watch::OnChange(const Change& change) {
  if (!change.key.starts_with(prefix_)) return;
  const bool before = Matches(change.before);
  const bool after = Matches(change.after);
  if (after) {
    Send(before ? EventType::kModified : EventType::kAdded, change, *change.after);
  } else if (before && change.after == nullptr) {
    Send(EventType::kDeleted, change, *change.before);
  } else if (before) {
    // It has left the selection: the last state that was in it, as of now.
    Send(EventType::kDeleted, change, AtRevision(*change.before, change.revision));
  }
}

void Watches::Watch::Send(EventType type, const Change& change, const Entry& entry) {
  if (request_->output.kind == Output::Kind::kObject) {
    return Write(owner_.frames_.Get(*request_->info, change, type, entry));
  }
  std::string text;
  AppendFrame(text, type, Rendered(entry));
  WriteText(std::move(text));
}

std::string Watches::Watch::Rendered(const Entry& entry) {
  if (request_->output.kind != Output::Kind::kTable) return RenderEntry(core_, *request_, entry);
  const Json object = LoadObject(core_, *request_->info, entry);
  const Json* const objects[] = {&object};
  TableOptions options = TableOptionsFor(core_, *request_);
  options.columns = !std::exchange(columns_sent_, true);
  options.metadata = json::object{{"resourceVersion", std::to_string(entry.revision)}};
  return kube::Serialize(MakeTable(*request_->info, objects, options));
}

void Watches::Watch::Fail(const Status& status) {
  std::string text;
  AppendFrame(text, EventType::kError, kube::Serialize(ErrorOf(status).ToJson()));
  WriteText(std::move(text));
  End();
}

void Watches::Watch::SetTimers() {
  const int64_t asked = options_.timeout_seconds.value_or(0);
  const Duration timeout = BoundedSeconds(
      asked > 0 ? asked : kMinTimeout + static_cast<int64_t>(core_.random.Below(kMinTimeout)));
  deadline_ = core_.loop.clock().Steady() + timeout;
  end_.Set(timeout, [this] { End(); });
  if (options_.bookmarks) ScheduleBookmark();
}

void Watches::Watch::ScheduleBookmark() {
  const Duration left = deadline_ - core_.loop.clock().Steady();
  const Duration before_end = left - kBookmarkBeforeEnd;
  if (before_end <= Duration::zero()) return;
  bookmark_.Set(std::min(kBookmarkEvery, before_end), [this] {
    const Revision durable = core_.store.durable_revision();
    // What is durable may still be waiting on the loop to be told to us.
    core_.loop.Post(scope_.Wrap([this, durable] {
      if (!ended_ && subscription_ != nullptr) SendBookmark(std::max(durable, delivered_), false);
    }));
    ScheduleBookmark();
  });
}

void Watches::Watch::SendBookmark(Revision revision, bool initial_end) {
  std::string text;
  AppendFrame(text, EventType::kBookmark, BookmarkObject(revision, initial_end));
  WriteText(std::move(text));
}

std::string Watches::Watch::BookmarkObject(Revision revision, bool initial_end) const {
  const kube::Resource& resource = request_->info->resource;
  json::object metadata{{"resourceVersion", std::to_string(revision)},
                        {"creationTimestamp", nullptr}};
  if (initial_end) metadata["annotations"] = json::object{{kInitialEnd, "true"}};
  if (request_->output.kind == Output::Kind::kObject) {
    return kube::Serialize(json::object{{"kind", resource.kind},
                                        {"apiVersion", resource.api_version()},
                                        {"metadata", std::move(metadata)}});
  }
  const std::string meta_version = "meta.k8s.io/" + request_->output.version;
  json::object partial{{"kind", "PartialObjectMetadata"},
                       {"apiVersion", meta_version},
                       {"metadata", std::move(metadata)}};
  if (request_->output.kind == Output::Kind::kPartial) return kube::Serialize(partial);
  return kube::Serialize(json::object{
      {"kind", "Table"},
      {"apiVersion", meta_version},
      {"metadata", json::object{{"resourceVersion", std::to_string(revision)}}},
      {"columnDefinitions", nullptr},
      {"rows",
       json::array{json::object{{"cells", json::array()}, {"object", std::move(partial)}}}}});
}

void Watches::Watch::Write(Frame frame) {
  if (ended_) return;
  kube::ResponseWriter& writer = *request_->writer;
  writer.Write(std::move(frame));
  const size_t pending = writer.pending_chunks();
  if (pending >= kHopelessChunks) return CutOff();
  if (pending < kSlowChunks || slow_.pending()) return;
  slow_.Set(kSlowReader, [this] {
    if (request_->writer->pending_chunks() >= kSlowChunks) CutOff();
  });
}

void Watches::Watch::CutOff() {
  LOG_WARNING("Closed a watch whose reader does not keep up",
              {"resource", request_->info->resource.qualified()}, {"user", request_->user().name});
  End();
}

void Watches::Watch::Release() {
  ended_ = true;
  subscription_.reset();
  for (Timer* timer : {&end_, &bookmark_, &slow_}) timer->Cancel();
}

void Watches::Watch::End() {
  if (std::exchange(ended_, true)) return;
  request_->writer->End();
  owner_.Remove(id_);
}

Watches::Watches(Core& core) : core_(core), frames_(core) {}
Watches::~Watches() = default;

void Watches::Start(RequestPtr request) {
  StatusOr<ListOptions> options = ListOptions::ForWatch(*request);
  if (!options.ok()) return RespondError(core_, *request, options.status());
  StatusOr<Selection> selection = Selection::Of(*request);
  if (!selection.ok()) return RespondError(core_, *request, selection.status());
  const uint64_t id = next_id_++;
  auto watch = std::make_shared<Watch>(*this, id, std::move(request), std::move(*options),
                                       std::move(*selection));
  watches_.emplace(id, watch);
  core_.metrics.WatchOpened();
  watch->Start();
}

void Watches::Remove(uint64_t id) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  it->second->Release();
  core_.metrics.WatchClosed();
  // It may be in the middle of a call.
  core_.loop.Post([watch = std::move(it->second)] {});
  watches_.erase(it);
}

void Watches::EndAll() {
  while (!watches_.empty()) {
    const auto watch = watches_.begin()->second;
    watch->End();
  }
}

void Watches::EndResource(std::string_view stored_as) {
  std::vector<std::shared_ptr<Watch>> ending;
  for (const auto& [id, watch] : watches_) {
    if (watch->stored_as() == stored_as) ending.push_back(watch);
  }
  for (const auto& watch : ending) watch->End();
}

}  // namespace koord::apiserver
