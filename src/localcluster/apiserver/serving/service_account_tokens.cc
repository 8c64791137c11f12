#include "localcluster/apiserver/serving/service_account_tokens.h"

#include <openssl/ecdsa.h>
#include <openssl/rand.h>

#include <array>
#include <utility>

#include "base/strings.h"
#include "kube/json.h"
#include "kube/serving/openssl_ptr.h"

namespace koord::apiserver {
namespace {

namespace json = kube::json;

constexpr std::string_view kIssuer = "https://kubernetes.default.svc.cluster.local";
constexpr std::string_view kPrivateClaims = "kubernetes.io";
// Half of an ES256 signature: r and s are numbers of the curve's size.
constexpr int kNumberBytes = 32;

int64_t Seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}
WallTime FromSeconds(int64_t seconds) {
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

template <class... Args>
Status Refused(fmt::format_string<Args...> format, Args&&... args) {
  return absl::UnauthenticatedError(fmt::format(format, std::forward<Args>(args)...));
}

using SignaturePtr = std::unique_ptr<ECDSA_SIG, kube::OpensslDeleter<ECDSA_SIG_free>>;

// OpenSSL speaks DER, tokens carry the two numbers one after the other.
StatusOr<std::string> RawSignature(std::string_view der) {
  const auto* data = reinterpret_cast<const unsigned char*>(der.data());
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &data, static_cast<long>(der.size())));
  if (signature == nullptr) return kube::OpensslError("cannot read a signature");
  std::string raw(2 * kNumberBytes, '\0');
  auto* out = reinterpret_cast<unsigned char*>(raw.data());
  if (BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kNumberBytes) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kNumberBytes, kNumberBytes) < 0) {
    return kube::OpensslError("cannot write a signature");
  }
  return raw;
}

std::string DerSignature(std::string_view raw) {
  const auto* in = reinterpret_cast<const unsigned char*>(raw.data());
  const SignaturePtr signature(ECDSA_SIG_new());
  ECDSA_SIG_set0(signature.get(), BN_bin2bn(in, kNumberBytes, nullptr),
                 BN_bin2bn(in + kNumberBytes, kNumberBytes, nullptr));
  unsigned char* data = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &data);
  std::string der(reinterpret_cast<char*>(data), size > 0 ? static_cast<size_t>(size) : 0);
  OPENSSL_free(data);
  return der;
}

// A random UUID.
StatusOr<std::string> MakeId() {
  std::array<unsigned char, 16> b;
  if (RAND_bytes(b.data(), b.size()) != 1) return kube::OpensslError("cannot make a token id");
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  return fmt::format("{:02x}-{:02x}-{:02x}-{:02x}-{:02x}", fmt::join(&b[0], &b[4], ""),
                     fmt::join(&b[4], &b[6], ""), fmt::join(&b[6], &b[8], ""),
                     fmt::join(&b[8], &b[10], ""), fmt::join(b.data() + 10, b.data() + 16, ""));
}

json::object Reference(const std::string& name, const std::string& uid) {
  return {{"name", name}, {"uid", uid}};
}

std::string PayloadOf(const ServiceAccountTokens::Claims& claims) {
  json::array audiences(claims.audiences.begin(), claims.audiences.end());
  if (audiences.empty()) audiences.emplace_back(ServiceAccountTokens::kDefaultAudience);
  json::object own{{"namespace", claims.ns},
                   {"serviceaccount", Reference(claims.name, claims.uid)}};
  if (const auto& bound = claims.bound_to) {
    own.emplace(ToLower(bound->kind), Reference(bound->name, bound->uid));
  }
  return kube::Serialize(json::object{{"aud", std::move(audiences)},
                                      {"exp", Seconds(claims.expires)},
                                      {"iat", Seconds(claims.issued)},
                                      {"iss", kIssuer},
                                      {"jti", claims.id},
                                      {kPrivateClaims, std::move(own)},
                                      {"nbf", Seconds(claims.issued)},
                                      {"sub", claims.user().name}});
}

std::optional<ServiceAccountTokens::BoundObject> BoundObjectIn(const kube::Json& payload) {
  for (const char* kind : {"Pod", "Node", "Secret"}) {
    const std::string member = ToLower(kind);
    const std::string_view name = kube::FindString(payload, {kPrivateClaims, member, "name"});
    if (name.empty()) continue;
    return ServiceAccountTokens::BoundObject{
        kind, std::string(name),
        std::string(kube::FindString(payload, {kPrivateClaims, member, "uid"}))};
  }
  return {};
}

ServiceAccountTokens::Claims ClaimsIn(const kube::Json& payload) {
  ServiceAccountTokens::Claims claims;
  claims.ns = kube::FindString(payload, {kPrivateClaims, "namespace"});
  claims.name = kube::FindString(payload, {kPrivateClaims, "serviceaccount", "name"});
  claims.uid = kube::FindString(payload, {kPrivateClaims, "serviceaccount", "uid"});
  if (const json::array* audiences = kube::FindArray(payload, {"aud"})) {
    for (const kube::Json& audience : *audiences) {
      if (audience.is_string()) claims.audiences.emplace_back(audience.get_string());
    }
  }
  claims.bound_to = BoundObjectIn(payload);
  claims.issued = FromSeconds(kube::FindInt(payload, {"iat"}));
  claims.expires = FromSeconds(kube::FindInt(payload, {"exp"}));
  claims.id = kube::FindString(payload, {"jti"});
  return claims;
}

class Es256Tokens final : public ServiceAccountTokens {
 public:
  explicit Es256Tokens(kube::KeyPtr key) : key_(std::move(key)) {}

  StatusOr<std::string> Issue(Claims claims) const override {
    if (claims.id.empty()) {
      ASSIGN_OR_RETURN(claims.id, MakeId());
    }
    std::string token = Base64UrlEncode(R"({"alg":"ES256","typ":"JWT"})") + "." +
                        Base64UrlEncode(PayloadOf(claims));
    ASSIGN_OR_RETURN(const std::string signature, Sign(token));
    return token + "." + Base64UrlEncode(signature);
  }

  StatusOr<Claims> Verify(std::string_view token, WallTime now) const override {
    const std::vector<std::string_view> parts = Split(token, '.');
    if (parts.size() != 3) return Refused("not a service account token");
    const auto signature = Base64UrlDecode(parts[2]);
    const std::string_view signed_text = token.substr(0, parts[0].size() + 1 + parts[1].size());
    if (!signature || !IsSigned(signed_text, *signature)) {
      return Refused("the token was not signed by this server");
    }
    // What we have signed is well-formed; the key is used for nothing else.
    const auto text = Base64UrlDecode(parts[1]);
    const StatusOr<kube::Json> payload = kube::ParseJson(text.value_or(""));
    if (!payload.ok()) return Refused("the token's claims are no JSON");
    Claims claims = ClaimsIn(*payload);
    if (now >= claims.expires) return Refused("the token has expired");
    if (now + kLeeway < claims.issued) return Refused("the token is not valid yet");
    return claims;
  }

 private:
  static constexpr Duration kLeeway = std::chrono::minutes(1);

  StatusOr<std::string> Sign(std::string_view text) const {
    const kube::DigestPtr digest(EVP_MD_CTX_new());
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    size_t size = 0;
    if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
        EVP_DigestSign(digest.get(), nullptr, &size, data, text.size()) != 1) {
      return kube::OpensslError("cannot sign a token");
    }
    std::string der(size, '\0');
    if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(der.data()), &size, data,
                       text.size()) != 1) {
      return kube::OpensslError("cannot sign a token");
    }
    return RawSignature(std::string_view(der).substr(0, size));
  }

  bool IsSigned(std::string_view text, std::string_view raw) const {
    if (raw.size() != 2 * kNumberBytes) return false;
    const std::string der = DerSignature(raw);
    const kube::DigestPtr digest(EVP_MD_CTX_new());
    const bool ok =
        EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
        EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(der.data()),
                         der.size(), reinterpret_cast<const unsigned char*>(text.data()),
                         text.size()) == 1;
    ERR_clear_error();
    return ok;
  }

  const kube::KeyPtr key_;
};

}  // namespace

kube::UserInfo ServiceAccountTokens::Claims::user() const {
  kube::UserInfo user;
  user.name = fmt::format("system:serviceaccount:{}:{}", ns, name);
  user.uid = uid;
  user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns};
  if (!id.empty()) user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + id};
  if (bound_to && bound_to->kind != "Secret") {
    const std::string prefix = "authentication.kubernetes.io/" + ToLower(bound_to->kind);
    user.extra[prefix + "-name"] = {bound_to->name};
    user.extra[prefix + "-uid"] = {bound_to->uid};
  }
  return user;
}

StatusOr<std::unique_ptr<ServiceAccountTokens>> ServiceAccountTokens::Make(const std::string& pem) {
  kube::KeyPtr key = kube::ReadKey(pem);
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC ||
      EVP_PKEY_get_bits(key.get()) != 256) {
    ERR_clear_error();
    return InvalidArgument("the key for service account tokens must be a P-256 key in PEM");
  }
  return std::make_unique<Es256Tokens>(std::move(key));
}

}  // namespace koord::apiserver
