#include "kube/transport/http_transport.h"

#include <absl/container/flat_hash_set.h>

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/file.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/strings.h"
#include "kube/transport/credentials.h"
#include "kube/transport/http_pool.h"
#include "kube/transport/server_url.h"
#include "kube/transport/tls_context.h"

namespace koord::kube {
namespace {

// An error answer is a Status object; more than this is not worth keeping.
constexpr uint64_t kMaxErrorBody = 4 << 20;

constexpr int kMaxAttempts = 3;  // to find a connection on which the server takes a request

StatusOr<std::string> DataOrFile(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  return ReadFile(file);
}

StatusOr<TlsFiles> LoadTlsFiles(const ClientConfig& config) {
  TlsFiles files;
  files.insecure = config.insecure_skip_tls_verify;
  ASSIGN_OR_RETURN(files.authorities, DataOrFile(config.ca_data, config.ca_file));
  ASSIGN_OR_RETURN(files.certificate,
                   DataOrFile(config.client_certificate_data, config.client_certificate_file));
  ASSIGN_OR_RETURN(files.key, DataOrFile(config.client_key_data, config.client_key_file));
  return files;
}

std::vector<std::pair<std::string, std::string>> ImpersonationHeaders(const ClientConfig& config) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (config.impersonate_user.empty()) return headers;
  headers.emplace_back("Impersonate-User", config.impersonate_user);
  if (!config.impersonate_uid.empty()) {
    headers.emplace_back("Impersonate-Uid", config.impersonate_uid);
  }
  for (const std::string& group : config.impersonate_groups) {
    headers.emplace_back("Impersonate-Group", group);
  }
  for (const auto& [key, values] : config.impersonate_extra) {
    const std::string name =
        "Impersonate-Extra-" + boost::urls::encode(key, boost::urls::unreserved_chars);
    for (const std::string& value : values) headers.emplace_back(name, value);
  }
  return headers;
}

bool UsesTlsFiles(const ClientConfig& config) {
  return !config.ca_file.empty() || !config.client_certificate_file.empty() ||
         !config.client_key_file.empty();
}

}  // namespace

// What all requests share: where the server is, credentials, and the connections.
class HttpTransport::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(AsioLoop& loop, const ClientConfig& config, Options options)
      : loop_(loop),
        config_(config),
        options_(options),
        pool_(std::make_shared<HttpPool>(
            loop,
            HttpPool::Options{options.timeouts, options.max_connections, options.idle_timeout})),
        timer_(loop) {}

  Status Init();
  void Shutdown();

  AsioLoop& loop() { return loop_; }
  const Options& options() const { return options_; }
  CredentialSource& credentials() { return *credentials_; }
  HttpPool& pool() { return *pool_; }

  void Start(const std::shared_ptr<Job>& job);
  void Forget(const std::shared_ptr<Job>& job) { jobs_.erase(job); }

  // Puts what every request carries into it.
  void Complete(HttpRequest& request, const Credential& credential) const;
  // Makes connections use the certificate of a credential from now on.
  Status UseCertificate(const Credential& credential);

 private:
  bool IsInUse(const Credential& credential) const;
  void CheckCertificates();
  void SetTls(TlsFiles files, std::shared_ptr<boost::asio::ssl::context> context);

  AsioLoop& loop_;
  const ClientConfig config_;
  const Options options_;
  ServerUrl server_;
  HttpEndpoint endpoint_;
  std::vector<std::pair<std::string, std::string>> impersonation_;
  std::unique_ptr<CredentialSource> credentials_;
  TlsFiles tls_files_;   // as the configuration has them
  TlsFiles tls_in_use_;  // with a credential's certificate

  const std::shared_ptr<HttpPool> pool_;
  absl::flat_hash_set<std::shared_ptr<Job>> jobs_;  // under way
  Timer timer_;
};

// One request from Send or Open to its end, kept alive by the core while it is under way. Callbacks
// may cancel it, so whatever calls one holds on to the job.
class HttpTransport::Job final : public HttpPool::User, public std::enable_shared_from_this<Job> {
 public:
  Job(std::shared_ptr<Core> core, HttpRequest request, Done done)
      : core_(std::move(core)),
        request_(std::move(request)),
        done_(std::move(done)),
        timer_(core_->loop()) {}
  Job(std::shared_ptr<Core> core, HttpRequest request, StreamEvents events)
      : core_(std::move(core)),
        request_(std::move(request)),
        stream_(true),
        events_(std::move(events)),
        timer_(core_->loop()) {}

  bool stream() const { return stream_; }
  bool over() const { return over_; }

  void SetTimeout(Duration timeout) {
    if (timeout <= Duration::zero()) return;
    timer_.Set(timeout, [this] { Finish(absl::DeadlineExceededError("the request timed out")); });
  }

  void Start() {
    core_->credentials().Get([weak = weak_from_this()](StatusOr<Credential> credential) {
      const auto self = weak.lock();
      if (self != nullptr && !self->over_) self->OnCredential(std::move(credential));
    });
  }

  // Nobody wants the answer any more.
  void Abort() {
    if (std::exchange(over_, true)) return;
    const auto self = shared_from_this();
    timer_.Cancel();
    Drop();
    core_->Forget(self);
  }

  void OnConnection(HttpConnection& connection, bool reused) override {
    connection_ = &connection;
    reused_ = reused;
    head_seen_ = false;
    HttpRequest request = request_;
    core_->Complete(request, credential_);
    HttpConnection::Events events;
    events.head = [this](HttpResponse head) { OnHead(std::move(head)); };
    events.data = [this](std::string_view data) { OnData(data); };
    events.end = [this](const Status& status) { OnEnd(status); };
    exchange_ = connection.Begin(std::move(request), stream_ ? 0 : core_->options().max_answer,
                                 std::move(events));
  }
  void OnNoConnection(const Status& status) override { Finish(status); }

  // The certificate has changed: what was opened with the old one ends.
  void Break() {
    if (stream_ && head_seen_) Finish(Unavailable("closed because the certificate has changed"));
  }

 private:
  void OnCredential(StatusOr<Credential> credential) {
    if (!credential.ok()) return Finish(credential.status());
    if (rejected_ && *credential == credential_) return DeliverAnswer();
    credential_ = std::move(*credential);
    if (Status status = core_->UseCertificate(credential_); !status.ok()) return Finish(status);
    response_ = {};
    attempts_ = 0;
    core_->pool().Acquire(shared_from_this(), !stream_, false);
  }

  bool Streaming() const { return stream_ && response_.status / 100 == 2; }

  void OnHead(HttpResponse head) {
    head_seen_ = true;
    response_ = std::move(head);
    if (!Streaming()) return;
    const auto self = shared_from_this();
    events_.head(response_);
  }

  void OnData(std::string_view data) {
    const auto self = shared_from_this();
    if (Streaming()) return events_.data(data);
    if (response_.status / 100 != 2 && response_.body.size() + data.size() > kMaxErrorBody) return;
    response_.body += data;
  }

  void OnEnd(const Status& status) {
    const auto self = shared_from_this();
    connection_ = nullptr;
    core_->pool().Release(*this);
    if (!status.ok()) {
      if (!MayTryAgain(status)) return Finish(status);
      return core_->pool().Acquire(self, !stream_, true);
    }
    if (response_.status == 401 && !std::exchange(rejected_, true)) {
      core_->credentials().Reject(credential_);
      return Start();
    }
    DeliverAnswer();
  }

  // Because the server has not looked at the request, or it was put on a kept connection that the
  // server had just closed.
  bool MayTryAgain(const Status& status) {
    const bool unseen = WasNotSent(status);
    const bool closed = reused_ && !head_seen_ && request_.method == "GET";
    return (unseen || closed) && ++attempts_ < kMaxAttempts;
  }

  void DeliverAnswer() {
    if (!stream_) return Finish(std::move(response_));
    const auto self = shared_from_this();
    if (!Streaming()) events_.head(response_);
    Finish(absl::OkStatus());
  }

  // For a stream only the status counts.
  void Finish(StatusOr<HttpResponse> answer) {
    if (over_) return;
    const auto self = shared_from_this();
    Abort();
    if (stream_) {
      events_.end(answer.status());
    } else {
      done_(std::move(answer));
    }
  }
  void Finish(const Status& status) {
    Finish(status.ok() ? StatusOr<HttpResponse>(HttpResponse()) : StatusOr<HttpResponse>(status));
  }

  void Drop() {
    if (auto* connection = std::exchange(connection_, nullptr)) connection->Cancel(exchange_);
    core_->pool().Release(*this);
  }

  const std::shared_ptr<Core> core_;
  const HttpRequest request_;
  const bool stream_ = false;
  Done done_;
  StreamEvents events_;

  Credential credential_;
  bool rejected_ = false;                 // once is enough
  HttpConnection* connection_ = nullptr;  // while it carries the exchange
  HttpConnection::ExchangeId exchange_ = 0;
  bool reused_ = false;
  int attempts_ = 0;
  bool head_seen_ = false;
  HttpResponse response_;
  bool over_ = false;
  Timer timer_;
};

Status HttpTransport::Core::Init() {
  const bool knows_tls =
      !config_.ca_data.empty() || !config_.ca_file.empty() || config_.insecure_skip_tls_verify;
  ASSIGN_OR_RETURN(server_, ParseServerUrl(config_.server, knows_tls ? "https" : "http"));
  if (server_.scheme != "http" && server_.scheme != "https") {
    return InvalidArgument("server {}: the scheme must be http or https",
                           Quote(HideCredentials(config_.server)));
  }
  ASSIGN_OR_RETURN(const auto proxy, ChooseProxy(server_, config_.proxy_url, ProcessEnvironment));
  ASSIGN_OR_RETURN(credentials_, MakeCredentialSource(loop_, config_));
  impersonation_ = ImpersonationHeaders(config_);
  endpoint_.host = server_.host;
  endpoint_.port = server_.port;
  if (proxy) {
    endpoint_.proxy_host = proxy->host;
    endpoint_.proxy_port = proxy->port;
    if (!proxy->user.empty()) {
      endpoint_.proxy_authorization = "Basic " + Base64Encode(proxy->user + ":" + proxy->password);
    }
  }
  if (server_.scheme == "http") {
    pool_->SetEndpoint(endpoint_);
    return absl::OkStatus();
  }
  endpoint_.http2 = options_.http2;
  endpoint_.tls_name = config_.tls_server_name.empty() ? server_.host : config_.tls_server_name;
  endpoint_.verify = !config_.insecure_skip_tls_verify;
  ASSIGN_OR_RETURN(tls_files_, LoadTlsFiles(config_));
  ASSIGN_OR_RETURN(auto context, MakeTlsContext(tls_files_));
  SetTls(tls_files_, std::move(context));
  if (UsesTlsFiles(config_)) {
    timer_.Set(options_.certificate_check, [this] { CheckCertificates(); });
  }
  return absl::OkStatus();
}

void HttpTransport::Core::Shutdown() {
  timer_.Cancel();
  for (const auto& job : std::exchange(jobs_, {})) job->Abort();
  pool_->Shutdown();
  credentials_ = nullptr;
}

void HttpTransport::Core::Start(const std::shared_ptr<Job>& job) {
  jobs_.insert(job);
  loop_.Post([job] {
    if (!job->over()) job->Start();
  });
}

void HttpTransport::Core::Complete(HttpRequest& request, const Credential& credential) const {
  request.target = server_.path + request.target;
  request.headers.Set("Host", server_.host_header());
  if (!credential.authorization.empty()) {
    request.headers.Set("Authorization", credential.authorization);
  }
  for (const auto& [name, value] : impersonation_) request.headers.Add(name, value);
}

// Asked for every request: copies nothing.
bool HttpTransport::Core::IsInUse(const Credential& credential) const {
  const bool has_own = !credential.key.empty();
  return (has_own ? credential.certificate : tls_files_.certificate) == tls_in_use_.certificate &&
         (has_own ? credential.key : tls_files_.key) == tls_in_use_.key &&
         tls_files_.authorities == tls_in_use_.authorities &&
         tls_files_.insecure == tls_in_use_.insecure;
}

Status HttpTransport::Core::UseCertificate(const Credential& credential) {
  if (endpoint_.tls == nullptr || IsInUse(credential)) return absl::OkStatus();
  TlsFiles wanted = tls_files_;
  if (!credential.key.empty()) {
    wanted.certificate = credential.certificate;
    wanted.key = credential.key;
  }
  ASSIGN_OR_RETURN(auto context, MakeTlsContext(wanted));
  SetTls(std::move(wanted), std::move(context));
  return absl::OkStatus();
}

void HttpTransport::Core::SetTls(TlsFiles files,
                                 std::shared_ptr<boost::asio::ssl::context> context) {
  const bool had_one = endpoint_.tls != nullptr;
  tls_in_use_ = std::move(files);
  endpoint_.tls = std::move(context);
  pool_->SetEndpoint(endpoint_);
  if (!had_one) return;
  LOG_INFO("TLS certificates have changed, opening new connections",
           {"server", HideCredentials(config_.server)});
  // Later, because this may be called by one of the jobs.
  loop_.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const auto jobs = self->jobs_;
    for (const auto& job : jobs) job->Break();
  });
}

void HttpTransport::Core::CheckCertificates() {
  timer_.Set(options_.certificate_check, [this] { CheckCertificates(); });
  StatusOr<TlsFiles> files = LoadTlsFiles(config_);
  if (!files.ok()) {
    LOG_ERROR("Cannot read the certificates again, keeping those in use", {"err", files.status()});
    return;
  }
  if (*files == tls_files_) return;
  // A certificate and its key may be caught half way through their replacement.
  StatusOr<std::shared_ptr<boost::asio::ssl::context>> context = MakeTlsContext(*files);
  if (!context.ok()) {
    LOG_ERROR("New certificates are not usable, keeping those in use", {"err", context.status()});
    return;
  }
  tls_files_ = *files;
  SetTls(std::move(*files), std::move(*context));
}

class HttpTransport::JobCall final : public Call {
 public:
  explicit JobCall(std::shared_ptr<Job> job) : job_(std::move(job)) {}
  void Cancel() override { job_->Abort(); }

 private:
  std::shared_ptr<Job> job_;
};

class HttpTransport::JobStream final : public Stream {
 public:
  explicit JobStream(std::shared_ptr<Job> job) : job_(std::move(job)) {}
  ~JobStream() override { job_->Abort(); }

 private:
  std::shared_ptr<Job> job_;
};

StatusOr<std::shared_ptr<Transport>> HttpTransport::Make(AsioLoop& loop, const ClientConfig& config,
                                                         Options options) {
  auto core = std::make_shared<Core>(loop, config, options);
  RETURN_IF_ERROR(core->Init());
  return std::shared_ptr<Transport>(new HttpTransport(std::move(core)));
}

HttpTransport::HttpTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
HttpTransport::~HttpTransport() { core_->Shutdown(); }

std::shared_ptr<Transport::Call> HttpTransport::Send(HttpRequest request, Duration timeout,
                                                     Done done) {
  auto job = std::make_shared<Job>(core_, std::move(request), std::move(done));
  job->SetTimeout(timeout);
  core_->Start(job);
  return std::make_shared<JobCall>(std::move(job));
}

std::unique_ptr<Transport::Stream> HttpTransport::Open(HttpRequest request, StreamEvents events) {
  auto job = std::make_shared<Job>(core_, std::move(request), std::move(events));
  core_->Start(job);
  return std::make_unique<JobStream>(std::move(job));
}

}  // namespace koord::kube
