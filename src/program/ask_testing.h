#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/http.h"

namespace koord::program {

// For tests: keeps the answer of a handler.
class Recorder final : public kube::ResponseWriter {
 public:
  void Finish(kube::HttpResponse response) override { answer = std::move(response); }
  void StartStream(kube::HttpResponse) override {}
  void Write(std::shared_ptr<const std::string>) override {}
  void End() override {}
  size_t pending_chunks() const override { return 0; }
  void OnDisconnect(absl::AnyInvocable<void()>) override {}

  std::optional<kube::HttpResponse> answer;
};

// For tests: asks a handler that answers at once; 0 if it does not.
inline kube::HttpResponse Ask(kube::HttpHandler& handler, std::string method, std::string target,
                              std::string body = "") {
  const auto recorder = std::make_shared<Recorder>();
  kube::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  handler.Handle(std::move(request), recorder);
  return recorder->answer.value_or(kube::HttpResponse{.status = 0});
}

}  // namespace koord::program
