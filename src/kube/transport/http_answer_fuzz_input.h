#pragma once
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/asio_loop.h"
#include "base/fuzz.h"
#include "kube/transport/http_connection.h"
#include "kube/transport/open_socket.h"

// For fuzz targets: a client's connection whose other end says what the fuzzer wants.
namespace koord::kube {

constexpr uint64_t kFuzzBodyLimit = 4096;

// What became of a request: it ends once, and nothing comes before its head or after its end.
struct FuzzedExchange {
  bool has_head = false;
  int ends = 0;
  uint64_t received = 0;

  HttpConnection::Events events() {
    return {.head =
                [this](HttpResponse) {
                  FUZZ_ASSERT(!has_head && ends == 0);
                  has_head = true;
                },
            .data =
                [this](std::string_view data) {
                  FUZZ_ASSERT(has_head && ends == 0);
                  received += data.size();
                  FUZZ_ASSERT(received <= kFuzzBodyLimit);
                },
            .end =
                [this](const Status& status) {
                  FUZZ_ASSERT(ends++ == 0);
                  FUZZ_ASSERT(has_head || !status.ok());
                }};
  }
};

struct SocketPair {
  SocketPair() { FUZZ_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0); }
  // Asio does not care what kind of socket it waits for.
  boost::asio::ip::tcp::socket TakeClient(AsioLoop& loop) {
    return {loop.context(), boost::asio::ip::tcp::v4(), ends[0]};
  }
  int server() const { return ends[1]; }

  int ends[2] = {-1, -1};
};

inline void RunReady(AsioLoop& loop) {
  loop.context().restart();
  loop.context().poll();
}

// Says all of `input` in pieces whose size its first byte gives; `send` takes a piece and says
// whether the client still listens.
template <class Send>
void Say(AsioLoop& loop, std::string_view input, Send send) {
  if (input.empty()) return;
  const auto first = static_cast<uint8_t>(input[0]);
  input.remove_prefix(1);
  const size_t piece = first == 0 ? std::max<size_t>(input.size(), 1) : first;
  while (!input.empty() && send(input.substr(0, piece))) {
    input.remove_prefix(std::min(piece, input.size()));
    RunReady(loop);
  }
}

}  // namespace koord::kube
