#include <unistd.h>

#include "kube/transport/http_answer_fuzz_input.h"

// Whatever a server of HTTP/1.1 answers, and wherever it breaks off: the request ends, once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  using namespace koord::kube;
  static AsioLoop loop;
  SocketPair pair;
  FuzzedExchange exchange;
  auto connection = MakeHttp1Connection({pair.TakeClient(loop), nullptr});
  connection->Begin({.target = "/"}, kFuzzBodyLimit, exchange.events());
  RunReady(loop);
  Say(loop, FuzzText(data, size), [&](std::string_view piece) {
    return send(pair.server(), piece.data(), piece.size(), MSG_NOSIGNAL) > 0;
  });
  RunReady(loop);
  if (exchange.ends > 0) connection->LooksAlive();
  close(pair.server());
  RunReady(loop);
  FUZZ_ASSERT(exchange.ends == 1);
  connection.reset();
  RunReady(loop);
  return 0;
}
