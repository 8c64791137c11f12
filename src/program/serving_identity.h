#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/serving/http_server.h"
#include "kube/serving/x509.h"

namespace koord::program {

// The certificate that a component shows: from files, which may be replaced while it runs, or its
// own, which is made at start and anew when two thirds of its life are over.
class ServingIdentity {
 public:
  struct Options {
    std::string program;                     // whom its own certificate names
    std::string certificate_file, key_file;  // empty: its own
    std::string client_ca_file;              // empty: none
    std::vector<std::string> names = {};     // DNS names and addresses for its own certificate
    bool only_tls_1_3 = false;
  };

  explicit ServingIdentity(Options options) : options_(std::move(options)) {}

  // Reads the files again. An error names the file. `more_client_ca` is trusted too.
  StatusOr<kube::TlsIdentity> Current(WallTime now, const std::string& more_client_ca = "");

 private:
  StatusOr<kube::KeyPair> Own(WallTime now);

  const Options options_;
  kube::KeyPair own_;
  WallTime renew_at_{};
};

}  // namespace koord::program
