#include "base/fuzz.h"
#include "base/virtual_loop.h"
#include "kube/serving/bearer_token.h"
#include "kube/serving/x509.h"
#include "localcluster/apiserver/serving/authentication.h"

namespace {

using namespace koord;
using namespace koord::apiserver;

class Nobody final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter>) override {}
};

}  // namespace

// Nobody is taken for somebody by a token that we have not handed out, and a file of tokens names
// users or is refused.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto accounts = ServiceAccountTokens::Make(kube::GenerateKey().value());
  static VirtualLoop loop;
  static Nobody nobody;
  static const Authenticator authenticator(
      loop.clock(), {.tokens = {AdminToken("secret")}, .service_accounts = accounts->get()},
      nobody);
  const std::string_view text = FuzzText(data, size);
  kube::Headers headers;
  headers.Set("Authorization", std::string(text));
  const std::string_view token = kube::BearerToken(headers);
  for (const std::string_view each : {token, text}) {
    FUZZ_ASSERT(!authenticator.Review(each).ok() || each == "secret");
  }
  const auto users = ParseTokenFile(text);
  if (!users.ok()) return 0;
  for (const StaticToken& user : *users)
    FUZZ_ASSERT(!user.token.empty() && !user.user.name.empty());
  return 0;
}
