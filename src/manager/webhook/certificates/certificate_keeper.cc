#include "manager/webhook/certificates/certificate_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "kube/serving/private_file.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;

constexpr Duration kInterval = std::chrono::seconds(60);
// For how long a certificate that is due for renewal may go unnoticed: far less than is left of it.
constexpr Duration kSoundFor = std::chrono::hours(1);
constexpr Duration kFirstRetry = std::chrono::milliseconds(500);
constexpr char kHint[] = "apply deploy/manager/webhooks.yaml, which makes it";

kube::InformerOptions OnlyNamed(const std::string& ns, const std::string& name) {
  return {.ns = ns, .field_selector = "metadata.name=" + name};
}

Duration RetryAfter(int failures) {
  return std::min(kInterval, kFirstRetry * (1 << std::min(failures - 1, 10)));
}

StatusOr<CertificateFiles> ReadDirectory(const std::string& directory) {
  CertificateFiles files;
  for (const auto& [name, unused] : ToFiles({})) {
    auto text = kube::ReadPrivateFile(directory + "/" + name);
    if (text.ok()) {
      files[name] = {*std::move(text)};
    } else if (!absl::IsNotFound(text.status())) {
      return text.status();
    }
  }
  return files;
}

Status WriteDirectory(const std::string& directory, const CertificateSet& set) {
  RETURN_IF_ERROR(kube::MakePrivateDirectory(directory));
  for (const auto& [name, text] : ToFiles(set)) {
    RETURN_IF_ERROR(kube::WritePrivateFile(directory + "/" + name, text.data));
  }
  return absl::OkStatus();
}

}  // namespace

CertificateKeeper::CertificateKeeper(kube::Client& client, CertificateOptions options,
                                     std::set<std::string, std::less<>> paths, Show show)
    : client_(client),
      options_(std::move(options)),
      show_(std::move(show)),
      secrets_(client, kube::kSecrets, OnlyNamed(options_.ns, options_.secret_name)),
      mutating_(client, kube::kMutatingWebhookConfigurations,
                OnlyNamed("", options_.mutating_name)),
      validating_(client, kube::kValidatingWebhookConfigurations,
                  OnlyNamed("", options_.validating_name)),
      timer_(client.loop()) {
  options_.policy.server_name = options_.server_name();
  registration_.service_ns = options_.ns;
  registration_.service_name = options_.service_name;
  registration_.host = options_.host;
  registration_.port = options_.port;
  registration_.paths = std::move(paths);
  const auto on_change = [this](const auto&, const auto&) { Sync(); };
  secrets_.AddHandler(scope_.Wrap(on_change));
  mutating_.AddHandler(scope_.Wrap(on_change));
  validating_.AddHandler(scope_.Wrap(on_change));
}

void CertificateKeeper::Start() {
  running_ = true;
  if (options_.directory.empty()) secrets_.Start();
  mutating_.Start();
  validating_.Start();
  Sync();
}

void CertificateKeeper::Stop() {
  running_ = false;
  timer_.Cancel();
  secrets_.Stop();
  mutating_.Stop();
  validating_.Stop();
}

void CertificateKeeper::WhenSynced(std::function<void()> callback) {
  synced_ ? callback() : when_synced_.push_back(std::move(callback));
}

void CertificateKeeper::Sync() {
  if (!running_) return;
  if (syncing_) {
    again_ = true;
    return;
  }
  syncing_ = true;
  again_ = false;
  timer_.Cancel();
  options_.directory.empty() ? ReadSecret() : UseDirectory();
}

StatusOr<std::optional<CertificateSet>> CertificateKeeper::Renew(const CertificateSet& current) {
  const Clock& clock = options_.clock != nullptr ? *options_.clock : client_.loop().clock();
  const WallTime now = clock.Now();
  const bool is_fresh = sound_at_ <= now && now < sound_at_ + kSoundFor;
  if (sound_ == current && is_fresh) return std::nullopt;
  auto renewed = RenewIfDue(current, options_.policy, now);
  if (renewed.ok() && !*renewed) {
    sound_ = current;
    sound_at_ = now;
  }
  return renewed;
}

void CertificateKeeper::UseDirectory() {
  const auto files = ReadDirectory(options_.directory);
  if (!files.ok()) return Finish(files.status());
  const CertificateSet current = FromFiles(*files);
  const auto renewed = Renew(current);
  if (!renewed.ok()) return Finish(renewed.status());
  if (!*renewed) return Use(current);
  const Status written = WriteDirectory(options_.directory, **renewed);
  written.ok() ? Use(**renewed) : Finish(written);
}

void CertificateKeeper::ReadSecret() {
  client_.Get(kube::kSecrets, {options_.ns, options_.secret_name},
              scope_.Wrap([this](StatusOr<Json> answer) { OnSecret(std::move(answer)); }));
}

void CertificateKeeper::OnSecret(StatusOr<Json> answer) {
  const bool exists = answer.ok();
  if (!exists && !kube::IsNotFound(answer.status())) return Finish(answer.status());
  CertificateSet current;
  Json secret{{"apiVersion", "v1"},
              {"kind", "Secret"},
              {"metadata", {{"namespace", options_.ns}, {"name", options_.secret_name}}}};
  if (exists) {
    const auto typed = kube::Decode<kube::Secret>(*answer);
    if (!typed.ok()) return Finish(typed.status());
    current = FromFiles(typed->data);
    secret = *std::move(answer);
  }
  const auto renewed = Renew(current);
  if (!renewed.ok()) return Finish(renewed.status());
  if (!*renewed) return Use(current);
  WriteSecret(std::move(secret), **renewed, exists);
}

void CertificateKeeper::WriteSecret(Json secret, const CertificateSet& set, bool exists) {
  for (const auto& [name, text] : ToFiles(set)) {
    kube::At(secret, {"data", name}) = kube::Encode(text);
  }
  auto written = scope_.Wrap([this, set](StatusOr<Json> answer) {
    if (answer.ok()) {
      LOG_INFO("Renewed webhook certificates", {"secret", options_.secret_name});
      return Use(set);
    }
    // Another replica was faster: what it made counts.
    if (kube::IsAlreadyExists(answer.status()) || kube::IsConflict(answer.status())) {
      return ReadSecret();
    }
    if (kube::IsNotFound(answer.status())) {
      return Finish(FailedPrecondition("namespace {} is not found: {}", Quote(options_.ns), kHint));
    }
    Finish(answer.status());
  });
  if (exists) {
    client_.Update(kube::kSecrets, {options_.ns, options_.secret_name}, secret, {},
                   std::move(written));
  } else {
    client_.Create(kube::kSecrets, options_.ns, secret, {}, std::move(written));
  }
}

void CertificateKeeper::Use(const CertificateSet& set) {
  if (shown_ != set) {
    if (const Status status = show_(set); !status.ok()) return Finish(status);
    shown_ = set;
  }
  registration_.ca_bundle = set.ca_bundle;
  listed_.clear();
  Register(kube::kMutatingWebhookConfigurations, options_.mutating_name, [this](Status first) {
    if (!first.ok()) return Finish(first);
    Register(kube::kValidatingWebhookConfigurations, options_.validating_name,
             [this](Status second) {
               if (second.ok()) TellOfUnlisted();
               Finish(second);
             });
  });
}

void CertificateKeeper::Register(const kube::Resource& resource, const std::string& name,
                                 std::function<void(Status)> done) {
  client_.Get(resource, {"", name}, scope_.Wrap([=, this](StatusOr<Json> answer) {
    if (kube::IsNotFound(answer.status())) {
      return done(FailedPrecondition("{} {} is not found: {}", resource.kind, Quote(name), kHint));
    }
    if (!answer.ok()) return done(answer.status());
    if (auto paths = ListedPaths(*answer); paths.ok()) listed_.merge(*paths);
    const auto changed = Registered(*answer, registration_);
    if (!changed.ok() || !*changed) return done(changed.status());
    client_.Update(resource, {"", name}, **changed, {},
                   scope_.Wrap([=](StatusOr<Json> written) { done(written.status()); }));
  }));
}

// A list from before an update lacks what has been added since: what it guards stays open.
void CertificateKeeper::TellOfUnlisted() {
  std::vector<std::string> unlisted;
  std::ranges::set_difference(registration_.paths, listed_, std::back_inserter(unlisted));
  if (unlisted == std::exchange(told_unlisted_, unlisted) || unlisted.empty()) return;
  LOG_WARNING("Webhooks are answered but nobody is told to call them",
              {"paths", Join(unlisted, ", ")},
              {"hint",
               "add them to the configurations: remove the annotation \"template\", then "
               "apply deploy/manager/webhooks.yaml"});
}

void CertificateKeeper::Finish(const Status& status) {
  syncing_ = false;
  last_error_ = status;
  if (!status.ok()) {
    LOG_ERROR("Webhooks are not in order", {"err", status});
    timer_.Set(RetryAfter(++failures_), [this] { Sync(); });
    return;
  }
  failures_ = 0;
  synced_ = true;
  for (const auto& callback : std::exchange(when_synced_, {})) callback();
  again_ ? Sync() : timer_.Set(kInterval, [this] { Sync(); });
}

}  // namespace koord::manager::webhook
