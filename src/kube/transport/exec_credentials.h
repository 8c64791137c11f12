#pragma once
#include <memory>
#include <optional>
#include <string_view>

#include "kube/transport/credentials.h"

namespace koord::kube {

// Asks the configuration's program for credentials (ExecCredential of client.authentication.k8s.io,
// v1 and v1beta1), keeps them until they expire or are refused, and asks it once for all requests
// that wait. The program runs beside the loop, never in its way.
StatusOr<std::unique_ptr<CredentialSource>> MakeExecCredentials(AsioLoop& loop,
                                                                const ClientConfig& config);

// What such a program has printed.
struct ExecAnswer {
  Credential credential;
  std::optional<WallTime> expires;  // none: never
};
StatusOr<ExecAnswer> ParseExecCredential(std::string_view output, std::string_view api_version);

}  // namespace koord::kube
