#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/serving/http_server.h"
#include "kube/serving/x509.h"

namespace koord::apiserver {

// What the server and its administrator prove themselves with.
//
// Made at the first start and kept in a directory (0700, files 0600). Later starts use them again,
// so that kubeconfig files go on working; what has used up two thirds of its life is made anew, and
// so is a serving certificate that lacks a name.
struct Credentials {
  std::string ca;  // certificate
  kube::KeyPair serving;
  kube::KeyPair admin;              // kubernetes-admin of the group system:masters
  std::string admin_token;          // a bearer token with the same rights
  std::string service_account_key;  // signs the tokens of service accounts
  WallTime renew_at;                // when the next of the certificates is due

  kube::TlsIdentity tls() const { return {serving.certificate, serving.key, ca}; }
};

// `names` are further host names and addresses for the serving certificate, besides loopback, this
// host's name and those of the service `kubernetes`.
StatusOr<Credentials> LoadOrMakeCredentials(const std::string& directory,
                                            const std::vector<std::string>& names, WallTime now);

// A kubeconfig file for the administrator with everything in it. `cluster` names cluster, user and
// context.
std::string AdminKubeconfig(const Credentials& credentials, const std::string& url,
                            const std::string& cluster);
Status WriteAdminKubeconfig(const std::string& path, const Credentials& credentials,
                            const std::string& url, const std::string& cluster = "koord");

}  // namespace koord::apiserver
