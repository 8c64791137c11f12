#include <openssl/ssl.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "kube/transport/http_answer_fuzz_input.h"

namespace {

using namespace koord;
using namespace koord::kube;

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* handle) const { SSL_free(handle); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, Free>;

unsigned ClientKey(SSL*, const char*, char* identity, unsigned, unsigned char* key, unsigned) {
  identity[0] = 'c';
  identity[1] = '\0';
  key[0] = 1;
  return 1;
}
unsigned ServerKey(SSL*, const char*, unsigned char* key, unsigned) {
  key[0] = 1;
  return 1;
}

// HTTP/2 comes over TLS only. A shared secret makes the handshake cheap.
ContextPtr MakeContext(const SSL_METHOD* method) {
  ContextPtr context(SSL_CTX_new(method));
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  FUZZ_ASSERT(SSL_CTX_set_cipher_list(context.get(), "PSK-AES128-GCM-SHA256") == 1);
  SSL_CTX_set_psk_client_callback(context.get(), ClientKey);
  SSL_CTX_set_psk_server_callback(context.get(), ServerKey);
  return context;
}

void ShakeHands(TlsSocket& client, SSL* server) {
  for (int i = 0; i < 10; ++i) {
    const bool client_is_done = client.Handshake().wait == TlsSocket::Wait::kNone;
    const bool server_is_done = SSL_accept(server) == 1;
    if (client_is_done && server_is_done) return;
  }
  FUZZ_ASSERT(false);
}

// The client's frames do not matter, but must not fill the socket.
bool SendAndDiscard(SSL* server, std::string_view piece) {
  char discarded[4096];
  while (SSL_read(server, discarded, sizeof(discarded)) > 0) {
  }
  return SSL_write(server, piece.data(), static_cast<int>(piece.size())) > 0;
}

}  // namespace

// Whatever a server of HTTP/2 sends, and wherever it breaks off: every request ends, once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static AsioLoop loop;
  std::signal(SIGPIPE, SIG_IGN);  // which the server's end here raises
  static const ContextPtr client_context = MakeContext(TLS_client_method());
  static const ContextPtr server_context = MakeContext(TLS_server_method());
  SocketPair pair;
  const std::unique_ptr<SSL, Free> server(SSL_new(server_context.get()));
  SSL_set_fd(server.get(), pair.server());
  auto tls = std::make_unique<TlsSocket>(client_context.get(), pair.ends[0]);
  ShakeHands(*tls, server.get());

  FuzzedExchange first, second;
  auto connection =
      MakeHttp2Connection(loop, {pair.TakeClient(loop), std::move(tls)}, std::chrono::minutes(1));
  connection->Begin({.target = "/1"}, kFuzzBodyLimit, first.events());
  connection->Begin({.method = "POST", .target = "/2", .body = "body"}, kFuzzBodyLimit,
                    second.events());
  RunReady(loop);
  Say(loop, FuzzText(data, size),
      [&](std::string_view piece) { return SendAndDiscard(server.get(), piece); });
  RunReady(loop);
  close(pair.server());
  RunReady(loop);
  FUZZ_ASSERT(first.ends == 1 && second.ends == 1);
  connection.reset();
  RunReady(loop);
  return 0;
}
