#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/scope.h"
#include "base/strings.h"
#include "kube/client/backoff.h"
#include "kube/informer/informer.h"

namespace koord::kube {
namespace {

constexpr Duration kVeryShortWatch = std::chrono::seconds(1);
constexpr int kMinWatchSeconds = 300;
constexpr int kMaxWatchSeconds = 600;
// A server that has not ended a watch this long after its time is not there any more.
constexpr Duration kWatchGrace = std::chrono::seconds(30);
// A streamed list that is silent for this long comes from a server that ignored the wish for one.
constexpr Duration kStreamListPatience = std::chrono::seconds(30);
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string_view VersionOf(JsonView object) {
  return FindString(object, {"metadata", "resourceVersion"});
}

bool IsTooLargeVersion(const Status& status) {
  const auto error = AsApiError(status);
  if (!error) return false;
  const bool named = std::any_of(error->causes.begin(), error->causes.end(), [](const auto& cause) {
    return cause.reason == "ResourceVersionTooLarge";
  });
  return named || error->message.find("Too large resource version") != std::string::npos;
}

// The server does not know streamed lists, or does not offer them here.
bool RejectsStreamedList(const Status& status) {
  const int code = HttpCode(status);
  return code == 400 || code == 404 || code == 422;
}

bool IsTransportError(const Status& status) {
  return !status.ok() && !AsApiError(status) &&
         (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status));
}

}  // namespace

// Always in one of four states: waiting for a list page, reading a streamed list, reading a watch,
// or pausing before the next of these.
class Reflector::Impl {
 public:
  Impl(Client& client, Resource resource, InformerOptions options, Sink& sink)
      : client_(client),
        clock_(client.loop().clock()),
        resource_(std::move(resource)),
        options_(std::move(options)),
        sink_(sink),
        random_(options_.seed),
        backoff_(clock_, random_()),
        stream_list_(options_.stream_list),
        timer_(client.loop()) {}

  void Start() {
    if (std::exchange(running_, true)) return;
    BeginList();
  }

  void Stop() {
    running_ = false;
    Reset();
  }

  void Relist() {
    if (!running_) return;
    version_unavailable_ = true;
    BeginList();
  }

 private:
  using Step = void (Impl::*)();

  // Ends whatever is under way; late answers are ignored.
  void Reset() {
    EndAttempt();
    sink_.ForgetList();
  }
  void EndAttempt() {
    attempt_.emplace();
    timer_.Cancel();
    watcher_ = nullptr;
  }

  // ---- list ----

  void BeginList() {
    Reset();
    if (stream_list_) {
      StreamList();
    } else {
      full_list_ = false;
      ListPage("");
    }
  }

  // Asks for what is at least as new as the last known state; for the very latest if that failed.
  std::string ListVersion() const {
    if (version_unavailable_) return "";
    return last_version_.empty() ? "0" : last_version_;
  }

  void ListPage(std::string continue_token) {
    ListOptions list;
    list.label_selector = options_.label_selector;
    list.field_selector = options_.field_selector;
    const std::string version = ListVersion();
    // Servers answer other versions from memory, whole; a limit would only send them to the disk.
    if (!full_list_ && (version.empty() || version == "0")) list.limit = options_.page_size;
    const bool first = continue_token.empty();
    if (first) list.resource_version = version;
    list.continue_token = std::move(continue_token);
    client_.List(resource_, options_.ns, list, attempt_->Wrap([this, first](StatusOr<Json> page) {
      OnPage(first, std::move(page));
    }));
  }

  void OnPage(bool first, StatusOr<Json> page) {
    if (!page.ok()) return OnListError(first, page.status());
    std::string version(VersionOf(*page));
    std::string token(FindString(*page, {"metadata", "continue"}));
    if (Json* items = Find(*page, {"items"}); items != nullptr && items->is_array()) {
      for (const Json& item : items->get_array()) sink_.List(item);
    }
    if (!token.empty()) return ListPage(std::move(token));
    if (!Accept(std::move(version))) return;
    Watch();
    sink_.Replace();
  }

  void OnListError(bool first, const Status& error) {
    if (!first && IsExpired(error)) {
      sink_.ForgetList();
      full_list_ = true;
      return ListPage("");
    }
    RetryList(error);
  }

  void RetryList(const Status& error) {
    if ((IsExpired(error) || IsTooLargeVersion(error)) && !version_unavailable_) {
      version_unavailable_ = true;
      return BeginList();
    }
    Pause(error, "Listing failed", &Impl::BeginList);
  }

  void StreamList() {
    streaming_ = true;
    WatchOptions watch = CommonWatchOptions();
    watch.resource_version = version_unavailable_ ? "" : last_version_;
    watch.resource_version_match = "NotOlderThan";
    watch.send_initial_events = true;
    OpenWatch(watch);
    timer_.Set(kStreamListPatience, [this] { CheckStreamedList(0); });
  }

  void CheckStreamedList(size_t seen_before) {
    if (opened_ && events_ == seen_before) {
      LOG_WARNING("The server does not complete a streamed list, falling back to paged lists",
                  {"resource", resource_.qualified()});
      stream_list_ = false;
      return BeginList();
    }
    timer_.Set(kStreamListPatience, [this, seen = events_] { CheckStreamedList(seen); });
  }

  void OnStreamedListEvent(std::string_view type, JsonView object) {
    if (type == "BOOKMARK") {
      if (!Find(object, {"metadata", "annotations", kInitialEventsEnd})) return;
      if (!Accept(std::string(VersionOf(object)))) return;
      streaming_ = false;
      SetWatchGuard();
      return sink_.Replace();
    }
    if (type == "DELETED") {
      sink_.Unlist(object);
    } else {
      sink_.List(object);
    }
  }

  void OnStreamedListEnd(const Status& status) {
    if (!RejectsStreamedList(status)) return RetryList(status);
    LOG_V(2, "The server offers no streamed lists, falling back to paged lists",
          {"resource", resource_.qualified()}, {"err", status});
    stream_list_ = false;
    BeginList();
  }

  // Judges the version of a complete list. If it is not acceptable the next list is under way.
  bool Accept(std::string version) {
    if (IsOlderVersion(version, last_version_)) {
      LOG_WARNING("The server listed an older state than it had shown before",
                  {"resource", resource_.qualified()}, {"listed", version}, {"seen", last_version_},
                  {"latest", version_unavailable_});
      if (!std::exchange(version_unavailable_, true)) {
        BeginList();
        return false;
      }
    }
    version_unavailable_ = false;
    last_version_ = std::move(version);
    return true;
  }

  // ---- watch ----

  WatchOptions CommonWatchOptions() {
    WatchOptions watch;
    watch.label_selector = options_.label_selector;
    watch.field_selector = options_.field_selector;
    watch.allow_bookmarks = true;
    watch.timeout_seconds =
        kMinWatchSeconds + static_cast<int>(random_.Below(kMaxWatchSeconds - kMinWatchSeconds));
    watch_time_ = std::chrono::seconds(watch.timeout_seconds);
    return watch;
  }

  void Watch() {
    EndAttempt();  // a list that is complete is about to be told
    streaming_ = false;
    WatchOptions watch = CommonWatchOptions();
    watch.resource_version = last_version_;
    OpenWatch(watch);
    SetWatchGuard();
  }

  void SetWatchGuard() {
    timer_.Set(watch_time_ + kWatchGrace, [this] {
      LOG_WARNING("A watch outlived its time-out, opening a new one",
                  {"resource", resource_.qualified()});
      Watch();
    });
  }

  void OpenWatch(const WatchOptions& watch) {
    opened_ = false;
    events_ = 0;
    watch_start_ = clock_.Steady();
    Client::WatchEvents events;
    events.opened = [this] { opened_ = true; };
    events.event = [this](std::string_view type, JsonView object) { OnEvent(type, object); };
    events.end = [this](const Status& status) { OnEnd(status); };
    watcher_ = client_.Watch(resource_, options_.ns, watch, std::move(events));
  }

  void OnEvent(std::string_view type, JsonView object) {
    ++events_;
    if (!IsExpectedKind(object)) return;
    if (streaming_) return OnStreamedListEvent(type, object);
    const std::string_view version = VersionOf(object);
    if (IsOlderVersion(version, last_version_)) {
      LOG_WARNING("Dropping a watch event from the past", {"resource", resource_.qualified()},
                  {"object", ObjectKeyOf(object).ToString()}, {"version", version},
                  {"seen", last_version_});
      return;
    }
    if (!version.empty()) last_version_ = version;
    internal_error_since_.reset();
    if (type == "ADDED" || type == "MODIFIED") {
      sink_.Upsert(object);
    } else if (type == "DELETED") {
      sink_.Remove(object);
    }
  }

  bool IsExpectedKind(JsonView object) const {
    const std::string_view kind = FindString(object, {"kind"}, resource_.kind);
    if (kind == resource_.kind || resource_.kind.empty()) return true;
    LOG_WARNING("Ignoring a watch event of an unexpected kind", {"expected", resource_.kind},
                {"kind", kind});
    return false;
  }

  void OnEnd(const Status& status) {
    if (streaming_) return OnStreamedListEnd(status);
    if (status.ok() || (opened_ && IsTransportError(status))) return OnWatchOver(status);
    if (IsTransportError(status) || IsTooManyRequests(status) || IsPassingInternalError(status)) {
      return Pause(status, "Watching failed", &Impl::Watch);
    }
    Pause(status, "Watching failed, listing again", &Impl::BeginList);
  }

  // The stream came to an end, as every watch does.
  void OnWatchOver(const Status& status) {
    internal_error_since_.reset();
    if (events_ == 0 && clock_.Steady() - watch_start_ < kVeryShortWatch) {
      return Pause(status, "Very short watch: it ended within a second, without any event",
                   &Impl::Watch);
    }
    Watch();
  }

  bool IsPassingInternalError(const Status& status) {
    if (HttpCode(status) != 500 || ErrorReason(status) != "InternalError") return false;
    const SteadyTime now = clock_.Steady();
    if (!internal_error_since_) internal_error_since_ = now;
    if (now - *internal_error_since_ < options_.internal_error_window) return true;
    internal_error_since_.reset();
    return false;
  }

  void Pause(const Status& status, std::string_view what, Step next) {
    Reset();
    const auto error = AsApiError(status);
    const bool unanswered = !error && absl::IsUnavailable(status);
    Duration pause = backoff_.Next(unanswered ? Backoff::kMaximumUnanswered : Backoff::kMaximum);
    if (error) {
      pause = std::max<Duration>(pause, std::chrono::seconds(error->retry_after_seconds));
    }
    LOG_WARNING(what, {"resource", resource_.qualified()}, {"err", status},
                {"retryIn", fmt::format("{:.1f}s", std::chrono::duration<double>(pause).count())});
    timer_.Set(pause, [this, next] { (this->*next)(); });
  }

  Client& client_;
  const Clock& clock_;
  const Resource resource_;
  const InformerOptions options_;
  Sink& sink_;
  Random random_;
  Backoff backoff_;

  bool running_ = false;
  bool stream_list_;                  // until the server turns out not to offer it
  std::string last_version_;          // the newest seen
  bool version_unavailable_ = false;  // the server cannot list at last_version_: ask for the latest
  std::optional<SteadyTime> internal_error_since_;

  // Of the attempt under way.
  bool full_list_ = false;  // without pages, because a page expired
  bool streaming_ = false;  // the watch still delivers the initial list
  bool opened_ = false;
  size_t events_ = 0;
  SteadyTime watch_start_{0};
  Duration watch_time_{0};
  std::unique_ptr<Client::Watcher> watcher_;
  Timer timer_;
  std::optional<Scope> attempt_{std::in_place};
};

Reflector::Reflector(Client& client, Resource resource, InformerOptions options, Sink& sink)
    : impl_(std::make_unique<Impl>(client, std::move(resource), std::move(options), sink)) {}
Reflector::~Reflector() = default;
void Reflector::Start() { impl_->Start(); }
void Reflector::Stop() { impl_->Stop(); }
void Reflector::Relist() { impl_->Relist(); }

}  // namespace koord::kube
