#include "kube/transport/credentials.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/transport/exec_credentials.h"

namespace koord::kube {
namespace {

// Token files are read again at least every minute; ten seconds are margin.
constexpr Duration kTokenLife = std::chrono::seconds(50);
constexpr size_t kMaxTokenFile = 1 << 20;

class FixedCredential final : public CredentialSource {
 public:
  explicit FixedCredential(std::string authorization) {
    credential_.authorization = std::move(authorization);
  }
  void Get(Done done) override { done(credential_); }
  void Reject(const Credential&) override {}

 private:
  Credential credential_;
};

// A token that somebody else keeps fresh in a file, as kubelet does for service accounts.
class TokenFile final : public CredentialSource {
 public:
  TokenFile(const Clock& clock, std::string path) : clock_(clock), path_(std::move(path)) {}

  void Get(Done done) override {
    if (stale_ || clock_.Steady() - read_at_ >= kTokenLife) Read();
    if (credential_.authorization.empty()) return done(error_);
    done(credential_);
  }
  void Reject(const Credential& refused) override { stale_ |= refused == credential_; }

 private:
  void Read() {
    read_at_ = clock_.Steady();
    stale_ = false;
    StatusOr<std::string> token = ReadFile(path_, kMaxTokenFile);
    if (token.ok()) token = CleanToken(*token);
    if (token.ok()) {
      credential_.authorization = "Bearer " + *token;
      return;
    }
    error_ = absl::UnauthenticatedError(
        fmt::format("cannot read the token file {}: {}", path_, Message(token.status())));
    LOG_ERROR("Cannot read the token file, keeping the last token", {"file", path_},
              {"err", token.status()});
  }

  const Clock& clock_;
  const std::string path_;
  Credential credential_;
  Status error_;
  bool stale_ = true;
  SteadyTime read_at_{0};
};

}  // namespace

StatusOr<std::string> CleanToken(std::string_view token) {
  const std::string_view trimmed = Trim(token);
  if (trimmed.empty()) return InvalidArgument("the token is empty");
  const bool printable =
      std::all_of(trimmed.begin(), trimmed.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable) return InvalidArgument("the token contains spaces or control characters");
  return std::string(trimmed);
}

StatusOr<std::unique_ptr<CredentialSource>> MakeCredentialSource(AsioLoop& loop,
                                                                 const ClientConfig& config) {
  if (!config.token_file.empty()) {
    return std::make_unique<TokenFile>(loop.clock(), config.token_file);
  }
  if (!config.token.empty()) {
    ASSIGN_OR_RETURN(const std::string token, CleanToken(config.token));
    return std::make_unique<FixedCredential>("Bearer " + token);
  }
  if (!config.username.empty()) {
    return std::make_unique<FixedCredential>("Basic " +
                                             Base64Encode(config.username + ":" + config.password));
  }
  if (config.exec) return MakeExecCredentials(loop, config);
  return std::make_unique<FixedCredential>("");
}

}  // namespace koord::kube
