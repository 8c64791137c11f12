#pragma once
#include <absl/functional/any_invocable.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// HTTP as values, whatever carries them. A server is an HttpHandler; the TLS listener and the
// in-process transport both drive it.
namespace koord::kube {

// Few and short: a plain vector. Names compare without regard to case.
class Headers {
 public:
  std::string_view Get(std::string_view name) const;  // empty if absent
  bool Has(std::string_view name) const;
  void Set(std::string_view name, std::string value);  // replaces
  void Add(std::string_view name, std::string value);
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

// Who asks, as an authenticator has established it.
struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

struct HttpRequest {
  std::string method = "GET";
  std::string target;  // path and query, percent-encoded
  Headers headers;
  std::string body;
  // Set by the carrier when it has verified a client certificate, or by in-process callers.
  std::optional<UserInfo> user;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

// Where a handler puts its answer: either one Finish, or StartStream, any number of Write, and End.
// Kept alive by whoever may still write. Writing after the peer has gone is harmless.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  virtual void Finish(HttpResponse response) = 0;

  virtual void StartStream(HttpResponse head) = 0;  // body ignored
  // Chunks are shared, so that one event serves many watchers.
  virtual void Write(std::shared_ptr<const std::string> chunk) = 0;
  virtual void End() = 0;

  // Chunks written that the peer has not taken yet: the measure of a slow reader.
  virtual size_t pending_chunks() const = 0;
  // Called once when the peer goes away before End.
  virtual void OnDisconnect(absl::AnyInvocable<void()> callback) = 0;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> response) = 0;
};

}  // namespace koord::kube
