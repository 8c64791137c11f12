#pragma once
#include <memory>

#include "kube/client/credentials.h"

namespace koord::kube {

// Asks the configuration's program for credentials (ExecCredential of client.authentication.k8s.io,
// v1 and v1beta1), keeps them until they expire or are refused, and asks it once for all requests
// that wait. The program runs beside the loop, never in its way.
StatusOr<std::unique_ptr<CredentialSource>> MakeExecCredentials(AsioLoop& loop,
                                                                const ClientConfig& config);

}  // namespace koord::kube
