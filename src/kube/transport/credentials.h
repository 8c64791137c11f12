#pragma once
#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/transport/client_config.h"

namespace koord::kube {

// What a request carries to be let in.
struct Credential {
  std::string authorization;     // header; empty: none
  std::string certificate, key;  // PEM; empty: those of the configuration
  bool operator==(const Credential&) const = default;
};

// Yields the credential of the moment: tokens rotate and programs are asked again.
class CredentialSource {
 public:
  using Done = absl::AnyInvocable<void(StatusOr<Credential>)>;

  virtual ~CredentialSource() = default;
  virtual void Get(Done done) = 0;  // may call back at once
  // The server refused the credential: the next Get looks for a new one.
  virtual void Reject(const Credential& refused) = 0;
};

// The first that is configured: token file (read again within a minute), token, name and password,
// exec program; or nothing.
StatusOr<std::unique_ptr<CredentialSource>> MakeCredentialSource(AsioLoop& loop,
                                                                 const ClientConfig& config);

// A token fit for a header: surrounding white space removed, nothing unprintable inside.
StatusOr<std::string> CleanToken(std::string_view token);

}  // namespace koord::kube
