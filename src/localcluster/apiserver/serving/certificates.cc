#include "localcluster/apiserver/serving/certificates.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "kube/serving/host_policy.h"
#include "kube/serving/openssl_ptr.h"
#include "kube/serving/private_file.h"

namespace koord::apiserver {
namespace {

constexpr Duration kAuthorityLife = std::chrono::hours(24 * 3650);
constexpr Duration kLeafLife = std::chrono::hours(24 * 365);
// Clocks of clients may be a little behind.
constexpr Duration kBackdate = std::chrono::minutes(5);
constexpr size_t kTokenBytes = 32;

WallTime RenewalOf(const kube::CertificateFacts& facts) {
  return facts.from + (facts.until - facts.from) * 2 / 3;
}

std::vector<std::string> ServingNames(const std::vector<std::string>& more) {
  std::vector<std::string> names = kube::OwnHostNames();
  names.insert(names.end(), more.begin(), more.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The directory where credentials are kept.
class Vault {
 public:
  Vault(std::string directory, WallTime now) : directory_(std::move(directory)), now_(now) {}

  // When the first of the certificates that were asked for is due.
  WallTime renew_at() const { return renew_at_; }

  // The pair kept under `name`, or a new one if there is none that will do.
  StatusOr<kube::KeyPair> Certificate(const std::string& name, kube::CertificateRequest request,
                                      Duration life, const kube::KeyPair* issuer) {
    ASSIGN_OR_RETURN(kube::KeyPair pair, LoadPair(name));
    StatusOr<kube::CertificateFacts> facts = kube::Inspect(pair);
    if (!facts.ok() || !WillDo(pair, *facts, request, issuer)) {
      request.from = now_ - kBackdate;
      request.until = now_ + life;
      ASSIGN_OR_RETURN(pair, kube::IssueCertificate(request, issuer));
      RETURN_IF_ERROR(kube::WritePrivateFile(PathOf(name + ".key"), pair.key));
      RETURN_IF_ERROR(kube::WritePrivateFile(PathOf(name + ".crt"), pair.certificate));
      LOG_V(1, "Made a certificate", {"name", request.common_name},
            {"file", PathOf(name + ".crt")});
      facts = kube::Inspect(pair);
      if (!facts.ok()) return facts.status();
    }
    renew_at_ = std::min(renew_at_, RenewalOf(*facts));
    return pair;
  }

  // The text kept in `file`, or what `make` makes if there is none.
  template <class Make>
  StatusOr<std::string> Secret(const std::string& file, Make make) {
    ASSIGN_OR_RETURN(std::string kept, LoadOrEmpty(file));
    if (!kept.empty()) return kept;
    ASSIGN_OR_RETURN(std::string made, make());
    RETURN_IF_ERROR(kube::WritePrivateFile(PathOf(file), made));
    return made;
  }

 private:
  std::string PathOf(const std::string& file) const { return directory_ + "/" + file; }

  StatusOr<std::string> LoadOrEmpty(const std::string& file) const {
    StatusOr<std::string> text = kube::ReadPrivateFile(PathOf(file));
    if (text.status().code() == absl::StatusCode::kNotFound) return std::string();
    return text;
  }
  StatusOr<kube::KeyPair> LoadPair(const std::string& name) const {
    ASSIGN_OR_RETURN(std::string certificate, LoadOrEmpty(name + ".crt"));
    ASSIGN_OR_RETURN(std::string key, LoadOrEmpty(name + ".key"));
    return kube::KeyPair{std::move(certificate), std::move(key)};
  }
  bool WillDo(const kube::KeyPair& pair, const kube::CertificateFacts& facts,
              const kube::CertificateRequest& request, const kube::KeyPair* issuer) const {
    return facts.from <= now_ && now_ < RenewalOf(facts) &&
           std::includes(facts.names.begin(), facts.names.end(), request.names.begin(),
                         request.names.end()) &&
           kube::IsIssuedBy(pair.certificate, issuer ? issuer->certificate : pair.certificate);
  }

  const std::string directory_;
  const WallTime now_;
  WallTime renew_at_ = WallTime::max();
};

StatusOr<std::string> MakeToken() {
  std::array<unsigned char, kTokenBytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return kube::OpensslError("cannot make a token");
  return Base64UrlEncode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

StatusOr<Credentials> LoadOrMakeCredentials(const std::string& directory,
                                            const std::vector<std::string>& names, WallTime now) {
  RETURN_IF_ERROR(kube::MakePrivateDirectory(directory));
  Vault vault(directory, now);
  ASSIGN_OR_RETURN(const kube::KeyPair authority,
                   vault.Certificate("ca", {kube::CertificateUse::kAuthority, "koord-ca"},
                                     kAuthorityLife, nullptr));
  Credentials credentials;
  credentials.ca = authority.certificate;
  ASSIGN_OR_RETURN(
      credentials.serving,
      vault.Certificate("server",
                        {kube::CertificateUse::kServer, "kube-apiserver", {}, ServingNames(names)},
                        kLeafLife, &authority));
  ASSIGN_OR_RETURN(
      credentials.admin,
      vault.Certificate("admin",
                        {kube::CertificateUse::kClient, "kubernetes-admin", {"system:masters"}},
                        kLeafLife, &authority));
  ASSIGN_OR_RETURN(credentials.admin_token, vault.Secret("admin.token", MakeToken));
  ASSIGN_OR_RETURN(credentials.service_account_key,
                   vault.Secret("service-account.key", kube::GenerateKey));
  credentials.renew_at = vault.renew_at();
  return credentials;
}

std::string AdminKubeconfig(const Credentials& credentials, const std::string& url,
                            const std::string& cluster) {
  return fmt::format(R"(apiVersion: v1
kind: Config
clusters:
- name: {0}
  cluster:
    server: {1}
    certificate-authority-data: {2}
users:
- name: {0}-admin
  user:
    client-certificate-data: {3}
    client-key-data: {4}
contexts:
- name: {0}
  context:
    cluster: {0}
    user: {0}-admin
current-context: {0}
)",
                     cluster, url, Base64Encode(credentials.ca),
                     Base64Encode(credentials.admin.certificate),
                     Base64Encode(credentials.admin.key));
}

Status WriteAdminKubeconfig(const std::string& path, const Credentials& credentials,
                            const std::string& url, const std::string& cluster) {
  return kube::WritePrivateFile(path, AdminKubeconfig(credentials, url, cluster));
}

}  // namespace koord::apiserver
