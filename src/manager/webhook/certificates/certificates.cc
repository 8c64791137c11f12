#include "manager/webhook/certificates/certificates.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kube/serving/x509.h"

namespace koord::manager::webhook {
namespace {

using kube::CertificateFacts;
using kube::KeyPair;

constexpr char kCaKey[] = "ca-key.pem";
constexpr char kCaCertificate[] = "ca-cert.pem";
constexpr char kKey[] = "key.pem";
constexpr char kTlsKey[] = "tls.key";
constexpr char kCertificate[] = "cert.pem";
constexpr char kTlsCertificate[] = "tls.crt";
// Clocks differ: what is new already counts for those that are behind.
constexpr Duration kBackdated = std::chrono::hours(1);

bool IsDue(const CertificateFacts& facts, WallTime now) {
  return now >= facts.from + (facts.until - facts.from) / 3 * 2;
}

// Renewing works on a copy and remembers whether it did anything.
class Renewal {
 public:
  Renewal(const CertificateSet& current, const CertificatePolicy& policy, WallTime now)
      : set_(current), policy_(policy), now_(now), authorities_(SplitPem(current.ca_bundle)) {}

  StatusOr<std::optional<CertificateSet>> Run() {
    RETURN_IF_ERROR(RenewAuthority());
    RETURN_IF_ERROR(RenewServer());
    set_.ca_bundle = Join(authorities_, "");
    return changed_ ? std::optional(set_) : std::nullopt;
  }

 private:
  KeyPair Authority() const { return {authorities_[0], set_.ca_key}; }

  Status RenewAuthority() {
    if (!authorities_.empty()) {
      const auto facts = kube::Inspect(Authority());
      if (facts.ok() && facts->until > now_) {
        authority_since_ = facts->from + kBackdated;
        if (!IsDue(*facts, now_)) return absl::OkStatus();
      }
    }
    return ReplaceAuthority();
  }

  Status ReplaceAuthority() {
    ASSIGN_OR_RETURN(KeyPair made, kube::IssueCertificate({.use = kube::CertificateUse::kAuthority,
                                                           .common_name = "webhook-cert-ca",
                                                           .from = now_ - kBackdated,
                                                           .until = now_ + policy_.ca_life},
                                                          nullptr));
    // One before is enough: it has a third of its life left.
    if (authorities_.size() > 1) authorities_.resize(1);
    authorities_.insert(authorities_.begin(), made.certificate);
    set_.ca_key = made.key;
    authority_since_ = now_;
    changed_ = true;
    return absl::OkStatus();
  }

  bool IsTrusted(const std::string& certificate) const {
    return std::ranges::any_of(authorities_, [&](const std::string& authority) {
      return kube::IsIssuedBy(certificate, authority);
    });
  }

  bool IsUsable(const StatusOr<CertificateFacts>& facts) const {
    return facts.ok() && facts->until > now_ && IsTrusted(set_.certificate) &&
           std::ranges::find(facts->names, policy_.server_name) != facts->names.end();
  }

  Status RenewServer() {
    const auto facts = kube::Inspect({set_.certificate, set_.key});
    if (IsUsable(facts)) {
      const bool of_former = !kube::IsIssuedBy(set_.certificate, authorities_[0]);
      if (!of_former && !IsDue(*facts, now_)) return absl::OkStatus();
      if (now_ < authority_since_ + policy_.settle) return absl::OkStatus();
    }
    StatusOr<KeyPair> made = MakeServer();
    if (!made.ok()) {  // the authority is of a kind that we cannot sign with
      RETURN_IF_ERROR(ReplaceAuthority());
      made = MakeServer();
    }
    RETURN_IF_ERROR(made.status());
    set_.certificate = made->certificate;
    set_.key = made->key;
    changed_ = true;
    return absl::OkStatus();
  }

  StatusOr<KeyPair> MakeServer() const {
    const KeyPair authority = Authority();
    ASSIGN_OR_RETURN(const CertificateFacts facts, kube::Inspect(authority));
    return kube::IssueCertificate({.use = kube::CertificateUse::kServer,
                                   .common_name = policy_.server_name,
                                   .names = {"localhost", policy_.server_name},
                                   .from = std::max(now_ - kBackdated, facts.from),
                                   .until = std::min(now_ + policy_.server_life, facts.until)},
                                  &authority);
  }

  CertificateSet set_;
  const CertificatePolicy& policy_;
  const WallTime now_;
  std::vector<std::string> authorities_;
  WallTime authority_since_{};
  bool changed_ = false;
};

}  // namespace

CertificateFiles ToFiles(const CertificateSet& set) {
  return {{kCaKey, {set.ca_key}},
          {kCaCertificate, {set.ca_bundle}},
          {kKey, {set.key}},
          {kTlsKey, {set.key}},
          {kCertificate, {set.certificate}},
          {kTlsCertificate, {set.certificate}}};
}

CertificateSet FromFiles(const CertificateFiles& files) {
  const auto text = [&](const char* name) {
    const auto it = files.find(name);
    return it == files.end() ? std::string() : it->second.data;
  };
  return {text(kCaKey), text(kCaCertificate), text(kKey), text(kCertificate)};
}

std::vector<std::string> SplitPem(const std::string& bundle) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> parts;
  size_t at = 0;
  while ((at = bundle.find(kBegin, at)) != bundle.npos) {
    const size_t end = bundle.find(kEnd, at);
    if (end == bundle.npos) break;
    parts.push_back(bundle.substr(at, end + kEnd.size() - at) + "\n");
    at = end;
  }
  return parts;
}

StatusOr<std::optional<CertificateSet>> RenewIfDue(const CertificateSet& current,
                                                   const CertificatePolicy& policy, WallTime now) {
  return Renewal(current, policy, now).Run();
}

}  // namespace koord::manager::webhook
