#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/virtual_loop.h"
#include "kube/serving/session.h"
#include "kube/serving/session_group.h"

// A session without a socket, for tests.
namespace koord::kube {

// The far end is the test: it sends bytes, and takes those that come back when it likes.
class FakeConnection final : public Session {
 public:
  FakeConnection(std::shared_ptr<SessionGroup> group, EventLoop& loop)
      : Session(std::move(group)), loop_(loop) {}

  void Open(std::optional<UserInfo> user = {}) { Begin(std::move(user)); }
  void Send(std::string_view bytes) {
    incoming_ += bytes;
    Deliver();
  }
  void Hang() { taking_ = false; }
  void Take() {
    taking_ = true;
    if (std::exchange(write_waits_, false)) Written();
  }
  void Leave() { OnGone(); }

  std::string received;
  size_t writes = 0;
  bool shut_down = false;
  bool closed = false;

 private:
  void StartRead(std::span<char> room) override {
    room_ = room;
    Deliver();
  }
  void StartWrite(std::string_view bytes) override {
    ++writes;
    leaving_ = bytes;
    taking_ ? Written() : void(write_waits_ = true);
  }
  void StartShutdown() override { shut_down = true; }
  void CloseWire() override { closed = true; }

  void Deliver() {
    if (room_.empty() || incoming_.empty() || std::exchange(delivering_, true)) return;
    loop_.Post([this, self = shared_from_this()] {
      delivering_ = false;
      const size_t size = std::min(room_.size(), incoming_.size());
      std::memcpy(room_.data(), incoming_.data(), size);
      incoming_.erase(0, size);
      room_ = {};
      OnRead(size);
    });
  }
  void Written() {
    loop_.Post([this, self = shared_from_this()] {
      if (closed) return;
      received += leaving_;
      OnWritten();
    });
  }

  EventLoop& loop_;
  std::string incoming_;
  std::span<char> room_;
  std::string_view leaving_;
  bool delivering_ = false;
  bool taking_ = true;
  bool write_waits_ = false;
};

// Answers with whatever the test has put in.
class FakeHandler final : public HttpHandler {
 public:
  using Answer = std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>)>;

  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> response) override {
    answer(std::move(request), std::move(response));
  }

  Answer answer;
};

}  // namespace koord::kube
