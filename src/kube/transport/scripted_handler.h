#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/api_error.h"
#include "kube/http.h"
#include "kube/json.h"

namespace koord::kube {

// For tests: a server that is played by hand. Requests wait here until the test takes and answers
// them; connections stay open until the test ends or drops them.
class ScriptedHandler final : public HttpHandler {
 public:
  class Exchange {
   public:
    HttpRequest request;

    void Answer(int status, std::string body, Headers headers = {}) {
      state_->writer->Finish({status, std::move(headers), std::move(body)});
    }
    void Answer(const Json& object) { Answer(200, Serialize(object)); }
    void Fail(const ApiError& error) { Answer(error.code, Serialize(error.ToJson())); }
    void StartWatch() { state_->writer->StartStream({200, {}, ""}); }
    void Write(std::string data) {
      state_->writer->Write(std::make_shared<const std::string>(std::move(data)));
    }
    void Event(std::string_view type, const Json& object) {
      Write(Serialize({{"type", type}, {"object", object}}) + "\n");
    }
    void End() { state_->writer->End(); }
    void Drop() { state_->writer = nullptr; }  // the connection breaks

    size_t pending_chunks() const { return state_->writer->pending_chunks(); }
    bool disconnected() const { return state_->disconnected; }  // by the client

   private:
    friend class ScriptedHandler;
    struct State {
      std::shared_ptr<ResponseWriter> writer;
      bool disconnected = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
  };

  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> response) override {
    Exchange exchange;
    exchange.request = std::move(request);
    response->OnDisconnect([state = std::weak_ptr(exchange.state_)] {
      if (const auto alive = state.lock()) alive->disconnected = true;
    });
    exchange.state_->writer = std::move(response);
    all_.push_back(exchange);
    ++waiting_;
  }

  size_t waiting() const { return waiting_; }

  // The oldest request that has not been taken.
  Exchange Take() {
    if (waiting_ == 0) {
      ADD_FAILURE() << "no request has come";
      Handle({}, std::make_shared<Nobody>());
    }
    return all_[all_.size() - waiting_--];
  }

 private:
  struct Nobody final : ResponseWriter {
    void Finish(HttpResponse) override {}
    void StartStream(HttpResponse) override {}
    void Write(std::shared_ptr<const std::string>) override {}
    void End() override {}
    size_t pending_chunks() const override { return 0; }
    void OnDisconnect(absl::AnyInvocable<void()>) override {}
  };

  std::vector<Exchange> all_;
  size_t waiting_ = 0;
};

}  // namespace koord::kube
