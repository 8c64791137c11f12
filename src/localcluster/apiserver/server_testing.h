#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/virtual_loop.h"
#include "kube/json.h"
#include "localcluster/apiserver/api_server.h"

// For tests: an API server on virtual time, asked without sockets.
namespace koord::apiserver {

// What came back for one request, as far as it has come.
struct TestAnswer {
  int code = 0;  // 0: nothing yet
  kube::Headers headers;
  std::string body;
  kube::Json json;  // the body, where it is JSON

  std::string_view reason() const { return kube::FindString(json, {"reason"}); }
  std::string_view message() const { return kube::FindString(json, {"message"}); }
  std::string_view String(std::initializer_list<std::string_view> path) const {
    return kube::FindString(json, path);
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : headers) {
      if (name == "Warning") all.push_back(value);
    }
    return all;
  }
};

// Collects an answer, or a stream of watch events.
class TestWriter final : public kube::ResponseWriter {
 public:
  void Finish(kube::HttpResponse response) override {
    answer.code = response.status;
    answer.headers = std::move(response.headers);
    answer.body = std::move(response.body);
    if (auto parsed = kube::ParseJson(answer.body); parsed.ok()) answer.json = std::move(*parsed);
    ended = true;
  }
  void StartStream(kube::HttpResponse head) override {
    answer.code = head.status;
    answer.headers = std::move(head.headers);
  }
  void Write(std::shared_ptr<const std::string> chunk) override {
    ++chunks;
    text += *chunk;
  }
  void End() override { ended = true; }
  size_t pending_chunks() const override { return stalled ? chunks : 0; }
  void OnDisconnect(absl::AnyInvocable<void()> callback) override {
    on_disconnect = std::move(callback);
  }

  // The events that have arrived since the last call.
  std::vector<kube::Json> TakeEvents() {
    std::vector<kube::Json> events;
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      auto parsed = kube::ParseJson(std::string_view(text).substr(begin, end - begin));
      EXPECT_TRUE(parsed.ok()) << text.substr(begin, end - begin);
      if (parsed.ok()) events.push_back(std::move(*parsed));
    }
    text.erase(0, begin);
    return events;
  }
  // "ADDED a", "BOOKMARK ", ...
  std::vector<std::string> TakeEventNames() {
    std::vector<std::string> names;
    for (const kube::Json& event : TakeEvents()) {
      names.push_back(std::string(kube::FindString(event, {"type"})) + " " +
                      std::string(kube::FindString(event, {"object", "metadata", "name"})));
    }
    return names;
  }

  TestAnswer answer;
  std::string text;
  size_t chunks = 0;
  bool stalled = false;  // as if the peer took nothing
  bool ended = false;
  absl::AnyInvocable<void()> on_disconnect;
};

class TestServer {
 public:
  explicit TestServer(ApiServer::Options options = {}, Store::Options store_options = {}) {
    auto opened = Store::Open(loop, std::move(store_options));
    EXPECT_TRUE(opened.ok()) << opened.status();
    store = std::move(*opened);
    server = std::make_unique<ApiServer>(loop, *store, std::move(options));
    loop.RunReady();
  }

  static kube::UserInfo Admin() {
    return {"admin", "", {"system:masters", "system:authenticated"}, {}};
  }

  std::shared_ptr<TestWriter> Start(kube::HttpRequest request) {
    auto writer = std::make_shared<TestWriter>();
    server->Handle(std::move(request), writer);
    loop.RunReady();
    return writer;
  }

  // Waits for the answer, letting virtual time pass where it has to.
  TestAnswer Send(kube::HttpRequest request) {
    auto writer = Start(std::move(request));
    EXPECT_TRUE(loop.RunUntil([&] { return writer->ended; }, std::chrono::minutes(5)));
    return writer->answer;
  }

  TestAnswer Send(std::string method, std::string target, std::string body = "",
                  std::string content_type = "application/json") {
    kube::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.user = Admin();
    if (!request.body.empty()) request.headers.Set("Content-Type", std::move(content_type));
    return Send(std::move(request));
  }

  TestAnswer Get(std::string target) { return Send("GET", std::move(target)); }
  TestAnswer Post(std::string target, const kube::Json& object) {
    return Send("POST", std::move(target), kube::Serialize(object));
  }
  TestAnswer Put(std::string target, const kube::Json& object) {
    return Send("PUT", std::move(target), kube::Serialize(object));
  }
  TestAnswer Delete(std::string target, const kube::Json& options = nullptr) {
    return Send("DELETE", std::move(target), options.is_null() ? "" : kube::Serialize(options));
  }
  TestAnswer MergePatch(std::string target, const kube::Json& patch) {
    return Send("PATCH", std::move(target), kube::Serialize(patch), "application/merge-patch+json");
  }

  std::shared_ptr<TestWriter> Watch(std::string target, std::string accept = "") {
    kube::HttpRequest request;
    request.target = std::move(target);
    request.user = Admin();
    if (!accept.empty()) request.headers.Set("Accept", std::move(accept));
    return Start(std::move(request));
  }

  VirtualLoop loop;
  std::unique_ptr<Store> store;
  std::unique_ptr<ApiServer> server;
};

// Objects for tests, as short as can be.
inline kube::Json Parse(std::string_view text) {
  auto parsed = kube::ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? std::move(*parsed) : kube::Json();
}
inline kube::Json TestPod(std::string_view name) {
  return Parse(fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"c","image":"i:1"}}]}}}})",
      name));
}
inline kube::Json TestConfigMap(std::string_view name) {
  return Parse(fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"k":"v"}}}})",
      name));
}

inline constexpr char kPodsPath[] = "/api/v1/namespaces/default/pods";
inline constexpr char kConfigMapsPath[] = "/api/v1/namespaces/default/configmaps";

}  // namespace koord::apiserver
