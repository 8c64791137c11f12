#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/objects/bytes.h"

// The webhooks' own certificates: an authority and a server certificate, made and renewed here.
//
// Each is renewed when two thirds of its life are over. A new authority is published beside the old
// one first; only when everybody had time to learn of it does the server show a certificate that
// the new one has signed. So at no moment is anything shown that is not yet, or no longer, trusted.
namespace koord::manager::webhook {

struct CertificateSet {
  std::string ca_key;
  std::string ca_bundle;  // PEM: the authority in use, then older ones that still count
  std::string key;
  std::string certificate;

  bool operator==(const CertificateSet&) const = default;
};

// As the Secret and the directory hold them, by file name.
using CertificateFiles = std::map<std::string, kube::Bytes, std::less<>>;
CertificateFiles ToFiles(const CertificateSet& set);
CertificateSet FromFiles(const CertificateFiles& files);

struct CertificatePolicy {
  std::string server_name;  // DNS name or IP address
  Duration ca_life = std::chrono::hours(24 * 3650);
  Duration server_life = std::chrono::hours(24 * 365);
  // How long a new authority is published before anything that it signed is shown.
  Duration settle = std::chrono::minutes(10);
};

// What should replace `current`, or nothing if it is good. What cannot be used is made anew.
StatusOr<std::optional<CertificateSet>> RenewIfDue(const CertificateSet& current,
                                                   const CertificatePolicy& policy, WallTime now);

std::vector<std::string> SplitPem(const std::string& bundle);

}  // namespace koord::manager::webhook
