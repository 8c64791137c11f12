#include "kube/client/client.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/scope.h"
#include "base/strings.h"
#include "kube/client/delete_options.h"
#include "kube/client/request_target.h"
#include "kube/client/token_bucket.h"
#include "kube/client/watch_decoder.h"

namespace koord::kube {
namespace {

constexpr int kMaxRetries = 10;
constexpr std::string_view kMayNotWrite = "not sent: this instance may not write, it does not lead";
constexpr Duration kPauseAfterReset = std::chrono::seconds(1);
constexpr int64_t kMaxRetryAfterSeconds = 3600;

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "application/json";
}

std::optional<int> RetryAfterSeconds(const HttpResponse& response) {
  const auto seconds = ParseInt(Trim(response.headers.Get("Retry-After")));
  if (!seconds || *seconds < 0) return {};
  return static_cast<int>(std::min(*seconds, kMaxRetryAfterSeconds));
}

Status AnswerError(const HttpResponse& response) {
  ApiError error = ApiError::FromBody(response.status, response.body);
  if (error.retry_after_seconds == 0) {
    error.retry_after_seconds = RetryAfterSeconds(response).value_or(0);
  }
  return ToStatus(error);
}

StatusOr<Json> DecodeAnswer(StatusOr<HttpResponse> answer, bool ignore_answer) {
  if (!answer.ok()) return std::move(answer).status();
  if (answer->status / 100 != 2) return AnswerError(*answer);
  if (answer->body.empty() || ignore_answer) return Json();
  StatusOr<Json> object = ParseShortLivedJson(answer->body);
  if (!object.ok()) {
    return Internal("the server answered {} with a body that is not JSON: {}", answer->status,
                    Quote(answer->body, 128));
  }
  return object;
}

// How long to wait before the same request may be sent again; none if it may not.
std::optional<Duration> PauseBeforeRetry(std::string_view method,
                                         const StatusOr<HttpResponse>& answer) {
  if (!answer.ok()) {
    const bool reset = absl::IsUnavailable(answer.status()) && !WasNotSent(answer.status());
    return reset && method == "GET" ? std::optional(kPauseAfterReset) : std::nullopt;
  }
  if (answer->status != 429 && answer->status < 500) return {};
  const auto seconds = RetryAfterSeconds(*answer);
  return seconds ? std::optional<Duration>(std::chrono::seconds(*seconds)) : std::nullopt;
}

void AddListOptions(TargetBuilder& target, const ListOptions& options) {
  target.Add("labelSelector", options.label_selector)
      .Add("fieldSelector", options.field_selector)
      .Add("limit", options.limit > 0 ? std::to_string(options.limit) : "")
      .Add("continue", options.continue_token)
      .Add("resourceVersion", options.resource_version)
      .Add("resourceVersionMatch", options.resource_version_match);
}

std::string WriteTarget(std::string path, const WriteOptions& options) {
  return TargetBuilder(std::move(path))
      .Add("fieldManager", options.field_manager)
      .Add("force", options.force ? "true" : "")
      .Add("dryRun", options.dry_run ? "All" : "")
      .Take();
}

HttpRequest RequestWithBody(std::string_view method, std::string target, const Json& body,
                            std::string_view content_type = "application/json") {
  HttpRequest request;
  request.method = method;
  request.target = std::move(target);
  request.headers.Set("Content-Type", std::string(content_type));
  request.body = Serialize(body);
  return request;
}

Json DeleteBody(const DeleteOptions& options) {
  Json body{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  Json members = ToJson(options);
  for (auto& [name, value] : members.as_object()) body.as_object()[name] = std::move(value);
  return body;
}

Status CheckKey(const Resource& resource, const ObjectKey& key) {
  if (key.name.empty()) return InvalidArgument("the name of the {} is empty", resource.kind);
  if (resource.namespaced && key.ns.empty()) {
    return InvalidArgument("the namespace of the {} {} is empty", resource.kind, Quote(key.name));
  }
  return absl::OkStatus();
}

std::string WatchTarget(const Resource& resource, std::string_view ns,
                        const WatchOptions& options) {
  TargetBuilder target(CollectionPath(resource, ns));
  target.Add("watch", "true")
      .Add("labelSelector", options.label_selector)
      .Add("fieldSelector", options.field_selector)
      .Add("resourceVersion", options.resource_version)
      .Add("resourceVersionMatch", options.resource_version_match)
      .Add("allowWatchBookmarks", options.allow_bookmarks ? "true" : "");
  if (options.send_initial_events) {
    target.Add("sendInitialEvents", *options.send_initial_events ? "true" : "false");
  }
  if (options.timeout_seconds > 0) {
    target.Add("timeoutSeconds", std::to_string(options.timeout_seconds));
  }
  return target.Take();
}

// A watch from its wait for the rate limit to its end. Shared, so that it survives being closed
// from within its own callbacks.
class OpenWatch final : public std::enable_shared_from_this<OpenWatch> {
 public:
  OpenWatch(EventLoop& loop, std::shared_ptr<Transport> transport, Duration timeout,
            Client::WatchEvents events)
      : transport_(std::move(transport)),
        timeout_(timeout),
        events_(std::move(events)),
        timer_(loop) {}

  void Start(HttpRequest request, Duration wait) {
    if (wait <= Duration::zero()) return Open(std::move(request));
    timer_.Set(wait, [this, request = std::move(request)]() mutable { Open(std::move(request)); });
  }

  void Close() {
    closed_ = true;
    timer_.Cancel();
    stream_ = nullptr;
  }

 private:
  void Open(HttpRequest request) {
    Transport::StreamEvents events;
    events.head = [this](HttpResponse head) { OnHead(head); };
    events.data = [this](std::string_view data) { OnData(data); };
    events.end = [this](const Status& status) { Finish(status); };
    stream_ = transport_->Open(std::move(request), std::move(events));
    // Only the head is waited for; after it a watch may be silent for long.
    if (timeout_ <= Duration::zero()) return;
    timer_.Set(timeout_, [this] {
      Finish(absl::DeadlineExceededError("the server did not answer the watch in time"));
    });
  }

  void OnHead(const HttpResponse& head) {
    const auto self = shared_from_this();
    timer_.Cancel();
    if (head.status / 100 != 2) return Finish(AnswerError(head));
    if (events_.opened) events_.opened();
  }

  void OnData(std::string_view data) {
    const auto self = shared_from_this();
    const Status status = decoder_.Feed(data, [this](std::string_view type, JsonView object) {
      events_.event(type, object);
      return !closed_;
    });
    if (!status.ok()) Finish(status);
  }

  void Finish(const Status& status) {
    if (closed_) return;
    const auto self = shared_from_this();
    Close();
    events_.end(status);
  }

  std::shared_ptr<Transport> transport_;
  const Duration timeout_;
  Client::WatchEvents events_;
  WatchDecoder decoder_;
  bool closed_ = false;
  std::unique_ptr<Transport::Stream> stream_;
  Timer timer_;
};

class WatcherHandle final : public Client::Watcher {
 public:
  explicit WatcherHandle(std::shared_ptr<OpenWatch> watch) : watch_(std::move(watch)) {}
  ~WatcherHandle() override { watch_->Close(); }

 private:
  std::shared_ptr<OpenWatch> watch_;
};

}  // namespace

class Client::Impl {
 public:
  Impl(EventLoop& loop, std::shared_ptr<Transport> transport, Options options)
      : loop_(loop),
        transport_(std::move(transport)),
        options_(std::move(options)),
        limiter_(loop.clock(), options_.qps, options_.burst) {}

  ~Impl() {
    for (auto& [id, pending] : pending_) {
      if (pending->call != nullptr) pending->call->Cancel();
    }
  }

  EventLoop& loop() const { return loop_; }
  const Options& options() const { return options_; }

  // Sends within the rate limit and retries where that is safe.
  void Send(HttpRequest request, Duration timeout, Transport::Done done) {
    AddHeaders(request);
    const uint64_t id = next_id_++;
    auto& pending = pending_[id];
    pending = std::make_unique<Pending>(loop_);
    pending->request = std::move(request);
    pending->timeout = timeout;
    pending->done = std::move(done);
    StartAfter(Duration::zero(), id);
  }

  void SendForObject(HttpRequest request, Done done, bool ignore_answer = false) {
    SendForObject(std::move(request), options_.timeout, std::move(done), ignore_answer);
  }
  void SendForObject(HttpRequest request, Duration timeout, Done done, bool ignore_answer = false) {
    Send(std::move(request), timeout,
         [done = std::move(done), ignore_answer](StatusOr<HttpResponse> answer) mutable {
           done(DecodeAnswer(std::move(answer), ignore_answer));
         });
  }

  // False if the arguments cannot make a request; the caller hears of it like of any other failure.
  bool Check(const Status& arguments, Done& done) {
    if (arguments.ok()) return true;
    loop_.Post(scope_.Wrap([done = std::move(done), arguments]() mutable { done(arguments); }));
    return false;
  }

  std::unique_ptr<Watcher> Watch(HttpRequest request, WatchEvents events) {
    AddHeaders(request);
    auto watch =
        std::make_shared<OpenWatch>(loop_, transport_, options_.timeout, std::move(events));
    watch->Start(std::move(request), limiter_.Reserve());
    return std::make_unique<WatcherHandle>(std::move(watch));
  }

 private:
  struct Pending {
    explicit Pending(EventLoop& loop) : timer(loop) {}
    HttpRequest request;
    Duration timeout{0};
    Transport::Done done;
    int retries = 0;
    std::shared_ptr<Transport::Call> call;
    Timer timer;
  };

  void AddHeaders(HttpRequest& request) const {
    if (!request.headers.Has("Accept")) request.headers.Set("Accept", "application/json");
    if (!request.headers.Has("User-Agent")) request.headers.Set("User-Agent", options_.user_agent);
  }

  void StartAfter(Duration pause, uint64_t id) {
    const Duration wait = std::max(pause, limiter_.Reserve());
    if (wait <= Duration::zero()) return Start(id);
    pending_[id]->timer.Set(wait, [this, id] { Start(id); });
  }

  void Start(uint64_t id) {
    Pending& pending = *pending_[id];
    if (pending.request.method != "GET" && options_.may_write && !options_.may_write()) {
      loop_.Post(scope_.Wrap([this, id] { Finish(id, NotSentError(kMayNotWrite)); }));
      return;
    }
    pending.call = transport_->Send(pending.request, pending.timeout,
                                    scope_.Wrap([this, id](StatusOr<HttpResponse> answer) {
                                      OnAnswer(id, std::move(answer));
                                    }));
  }

  void OnAnswer(uint64_t id, StatusOr<HttpResponse> answer) {
    Pending& pending = *pending_[id];
    const auto pause = PauseBeforeRetry(pending.request.method, answer);
    if (pause && pending.retries < kMaxRetries) {
      ++pending.retries;
      LOG_V(4, "Retrying request", {"method", pending.request.method},
            {"path", pending.request.target.substr(0, pending.request.target.find('?'))},
            {"attempt", pending.retries});
      return StartAfter(*pause, id);
    }
    Finish(id, std::move(answer));
  }

  void Finish(uint64_t id, StatusOr<HttpResponse> answer) {
    // `done` may destroy the client.
    Transport::Done done = std::move(pending_[id]->done);
    pending_.erase(id);
    done(std::move(answer));
  }

  EventLoop& loop_;
  std::shared_ptr<Transport> transport_;
  Options options_;
  TokenBucket limiter_;
  std::map<uint64_t, std::unique_ptr<Pending>> pending_;
  uint64_t next_id_ = 1;
  Scope scope_;
};

Client::Client(EventLoop& loop, std::shared_ptr<Transport> transport, Options options)
    : impl_(std::make_unique<Impl>(loop, std::move(transport), std::move(options))) {}
Client::~Client() = default;

EventLoop& Client::loop() const { return impl_->loop(); }

void Client::Get(const Resource& resource, const ObjectKey& key, Done done) {
  if (!impl_->Check(CheckKey(resource, key), done)) return;
  HttpRequest request;
  request.target = ObjectPath(resource, key);
  impl_->SendForObject(std::move(request), std::move(done));
}

void Client::List(const Resource& resource, std::string_view ns, const ListOptions& options,
                  Done done) {
  TargetBuilder target(CollectionPath(resource, ns));
  AddListOptions(target, options);
  HttpRequest request;
  request.target = target.Take();
  impl_->SendForObject(std::move(request), impl_->options().list_timeout, std::move(done));
}

void Client::Create(const Resource& resource, std::string_view ns, const Json& object,
                    const WriteOptions& options, Done done) {
  if (resource.namespaced && ns.empty()) {
    impl_->Check(InvalidArgument("the namespace of a new {} is empty", resource.kind), done);
    return;
  }
  std::string target = WriteTarget(CollectionPath(resource, ns), options);
  impl_->SendForObject(RequestWithBody("POST", std::move(target), object), std::move(done),
                       options.ignore_answer);
}

void Client::CreateSubresource(const Resource& resource, const ObjectKey& key, const Json& object,
                               const WriteOptions& options, Done done) {
  if (!impl_->Check(CheckKey(resource, key), done)) return;
  std::string target = WriteTarget(ObjectPath(resource, key, options.subresource), options);
  impl_->SendForObject(RequestWithBody("POST", std::move(target), object), std::move(done),
                       options.ignore_answer);
}

void Client::Update(const Resource& resource, const ObjectKey& key, const Json& object,
                    const WriteOptions& options, Done done) {
  if (!impl_->Check(CheckKey(resource, key), done)) return;
  std::string target = WriteTarget(ObjectPath(resource, key, options.subresource), options);
  impl_->SendForObject(RequestWithBody("PUT", std::move(target), object), std::move(done),
                       options.ignore_answer);
}

void Client::Patch(const Resource& resource, const ObjectKey& key, PatchType type,
                   const Json& patch, const WriteOptions& options, Done done) {
  if (!impl_->Check(CheckKey(resource, key), done)) return;
  std::string target = WriteTarget(ObjectPath(resource, key, options.subresource), options);
  impl_->SendForObject(RequestWithBody("PATCH", std::move(target), patch, ContentType(type)),
                       std::move(done), options.ignore_answer);
}

void Client::Delete(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                    Done done) {
  if (!impl_->Check(CheckKey(resource, key), done)) return;
  impl_->SendForObject(RequestWithBody("DELETE", ObjectPath(resource, key), DeleteBody(options)),
                       std::move(done));
}

void Client::DeleteCollection(const Resource& resource, std::string_view ns,
                              const ListOptions& which, const DeleteOptions& options, Done done) {
  TargetBuilder target(CollectionPath(resource, ns));
  AddListOptions(target, which);
  impl_->SendForObject(RequestWithBody("DELETE", target.Take(), DeleteBody(options)),
                       std::move(done));
}

std::unique_ptr<Client::Watcher> Client::Watch(const Resource& resource, std::string_view ns,
                                               const WatchOptions& options, WatchEvents events) {
  HttpRequest request;
  request.target = WatchTarget(resource, ns, options);
  return impl_->Watch(std::move(request), std::move(events));
}

void Client::Raw(HttpRequest request, Transport::Done done) {
  impl_->Send(std::move(request), impl_->options().timeout, std::move(done));
}

}  // namespace koord::kube
