#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/informer/informer.h"
#include "kube/objects/config.h"
#include "kube/objects/webhook_configuration.h"
#include "manager/webhook/certificates/certificates.h"
#include "manager/webhook/certificates/registration.h"

namespace koord::manager::webhook {

struct CertificateOptions {
  std::string ns = "koordinator-system";
  std::string secret_name = "koordinator-webhook-certs";
  std::string service_name = "koordinator-webhook-service";
  std::string mutating_name = "koordinator-mutating-webhook-configuration";
  std::string validating_name = "koordinator-validating-webhook-configuration";
  std::string host;              // WEBHOOK_HOST: called by address instead of through the service
  int port = 9876;               // with the host
  std::string directory;         // certificates are kept here instead of in the Secret; empty: not
  CertificatePolicy policy;      // the name is filled in
  const Clock* clock = nullptr;  // by which callers judge certificates; null: that of the loop

  std::string server_name() const { return host.empty() ? service_name + "." + ns + ".svc" : host; }
};

// Keeps certificates and registrations in order, on every replica: all share the Secret, and
// whoever comes first makes or renews what is in it.
//
// Looks at everything when the Secret or a configuration changes, and once a minute; after a
// failure sooner, with growing pauses.
class CertificateKeeper {
 public:
  // Called when another certificate is to be shown. An error is tried again.
  using Show = std::function<Status(const CertificateSet& set)>;

  // `client` must be allowed to write although this replica does not lead.
  CertificateKeeper(kube::Client& client, CertificateOptions options,
                    std::set<std::string, std::less<>> paths, Show show);

  void Start();
  void Stop();
  // Everything was in order once.
  bool synced() const { return synced_; }
  // Why it is not.
  const Status& last_error() const { return last_error_; }
  void WhenSynced(std::function<void()> callback);

 private:
  void Sync();
  void ReadSecret();
  void OnSecret(StatusOr<kube::Json> answer);
  void WriteSecret(kube::Json secret, const CertificateSet& set, bool exists);
  void UseDirectory();
  StatusOr<std::optional<CertificateSet>> Renew(const CertificateSet& current);
  void Use(const CertificateSet& set);
  void Register(const kube::Resource& resource, const std::string& name,
                std::function<void(Status)> done);
  void TellOfUnlisted();
  void Finish(const Status& status);

  kube::Client& client_;
  CertificateOptions options_;
  Registration registration_;
  std::set<std::string, std::less<>> listed_;  // paths in the configurations
  std::vector<std::string> told_unlisted_;
  const Show show_;
  kube::Informer<kube::Secret> secrets_;
  kube::Informer<kube::WebhookConfiguration> mutating_, validating_;
  std::optional<CertificateSet> shown_;
  // Needs no renewal, as was found then: keys and signatures are costly to check.
  std::optional<CertificateSet> sound_;
  WallTime sound_at_;
  bool running_ = false;
  bool syncing_ = false;
  bool again_ = false;
  bool synced_ = false;
  int failures_ = 0;
  Status last_error_ = Unavailable("certificates were not looked at yet");
  std::vector<std::function<void()>> when_synced_;
  Timer timer_;
  Scope scope_;
};

}  // namespace koord::manager::webhook
