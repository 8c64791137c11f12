#include "kube/discovery/resource_catalog.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/json.h"
#include "kube/resources.h"

namespace koord::kube {
namespace {

// A definition changes a few times in a row while it comes to life.
constexpr Duration kCalm = 200ms;
constexpr Duration kRetry = 1s;

}  // namespace

bool CatalogEntry::Can(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

StatusOr<std::vector<CatalogEntry>> ReadResourceList(std::string_view body, bool preferred) {
  ASSIGN_OR_RETURN(const Json list, ParseJson(body));
  const std::string_view group_version = FindString(list, {"groupVersion"});
  const size_t slash = group_version.find('/');
  const bool core = slash == std::string_view::npos;
  const std::string group(core ? std::string_view() : group_version.substr(0, slash));
  const std::string version(core ? group_version : group_version.substr(slash + 1));
  const json::array* resources = FindArray(list, {"resources"});
  if (version.empty() || resources == nullptr) return InvalidArgument("not an APIResourceList");
  std::vector<CatalogEntry> entries;
  for (const Json& item : *resources) {
    const std::string name(FindString(item, {"name"}));
    if (name.empty() || name.find('/') != std::string::npos) continue;
    CatalogEntry entry{.resource = {group, version, name, std::string(FindString(item, {"kind"})),
                                    FindBool(item, {"namespaced"})},
                       .preferred = preferred};
    if (const json::array* verbs = FindArray(item, {"verbs"})) {
      for (const Json& verb : *verbs) {
        if (verb.is_string()) entry.verbs.emplace_back(std::string_view(verb.get_string()));
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// One walk through the discovery documents: the groups, then the resources of each of their
// versions.
class ResourceCatalog::Discovery : public std::enable_shared_from_this<Discovery> {
 public:
  using Done = std::function<void(StatusOr<std::vector<CatalogEntry>>)>;
  Discovery(Client& client, Done done) : client_(client), done_(std::move(done)) {}

  void Run() {
    Fetch("/apis", [this](std::string_view body) { return ReadGroups(body); });
    FetchResources("/api/v1", true);
  }

 private:
  void FetchResources(const std::string& path, bool preferred) {
    Fetch(path, [this, preferred](std::string_view body) -> Status {
      ASSIGN_OR_RETURN(std::vector<CatalogEntry> more, ReadResourceList(body, preferred));
      std::move(more.begin(), more.end(), std::back_inserter(entries_));
      return absl::OkStatus();
    });
  }

  Status ReadGroups(std::string_view body) {
    ASSIGN_OR_RETURN(const Json list, ParseJson(body));
    const json::array* groups = FindArray(list, {"groups"});
    if (groups == nullptr) return InvalidArgument("not an APIGroupList");
    for (const Json& group : *groups) {
      const std::string_view preferred = FindString(group, {"preferredVersion", "groupVersion"});
      const json::array* versions = FindArray(group, {"versions"});
      if (versions == nullptr) continue;
      for (const Json& version : *versions) {
        const std::string_view name = FindString(version, {"groupVersion"});
        FetchResources("/apis/" + std::string(name), name == preferred);
      }
    }
    return absl::OkStatus();
  }

  void Fetch(std::string path, std::function<Status(std::string_view)> read) {
    ++outstanding_;
    HttpRequest request{.method = "GET", .target = path};
    request.headers.Set("Accept", "application/json");
    client_.Raw(std::move(request), [self = shared_from_this(), path,
                                     read = std::move(read)](StatusOr<HttpResponse> answer) {
      Status status = answer.status();
      // A group may go while we look: it then has no resources.
      if (answer.ok() && answer->status == 200) status = read(answer->body);
      if (answer.ok() && answer->status != 200 && answer->status != 404) {
        status = Unavailable("GET {}: HTTP {}", path, answer->status);
      }
      self->Answered(std::move(status));
    });
  }

  void Answered(Status status) {
    if (status_.ok()) status_ = std::move(status);
    if (--outstanding_ > 0) return;
    if (!status_.ok()) return done_(status_);
    std::sort(entries_.begin(), entries_.end(),
              [](const CatalogEntry& a, const CatalogEntry& b) { return a.resource < b.resource; });
    done_(std::move(entries_));
  }

  Client& client_;
  Done done_;
  std::vector<CatalogEntry> entries_;
  Status status_;
  int outstanding_ = 0;
};

ResourceCatalog::ResourceCatalog(Client& client, uint64_t seed)
    : client_(client),
      definitions_(client, kCustomResourceDefinitions, {.seed = seed}),
      timer_(client.loop()) {
  definitions_.AddHandler([this](const auto&, const auto&) {
    // Before the first list is complete, WhenSynced will do.
    if (definitions_.synced()) timer_.Set(kCalm, [this] { Refresh(); });
  });
  definitions_.WhenSynced([this] { Refresh(); });
}

ResourceCatalog::~ResourceCatalog() = default;

void ResourceCatalog::Start() { definitions_.Start(); }

void ResourceCatalog::Stop() {
  timer_.Cancel();
  definitions_.Stop();
}

const CatalogEntry* ResourceCatalog::FindKind(std::string_view api_version,
                                              std::string_view kind) const {
  for (const CatalogEntry& entry : entries_) {
    if (entry.resource.kind == kind && entry.resource.api_version() == api_version) return &entry;
  }
  return nullptr;
}

void ResourceCatalog::OnChange(std::function<void()> callback) {
  if (known_) callback();
  callbacks_.push_back(std::move(callback));
}

void ResourceCatalog::Refresh() {
  if (running_ != nullptr) {
    again_ = true;
    return;
  }
  running_ = std::make_shared<Discovery>(
      client_, scope_.Wrap([this](StatusOr<std::vector<CatalogEntry>> entries) {
        Finished(std::move(entries));
      }));
  running_->Run();
}

void ResourceCatalog::Finished(StatusOr<std::vector<CatalogEntry>> entries) {
  running_ = nullptr;
  if (!entries.ok()) {
    LOG_WARNING("Discovery failed, will try again", {"err", entries.status()});
    timer_.Set(kRetry, [this] { Refresh(); });
    return;
  }
  entries_ = *std::move(entries);
  known_ = true;
  for (size_t i = 0; i < callbacks_.size(); ++i) callbacks_[i]();
  if (std::exchange(again_, false)) Refresh();
}

}  // namespace koord::kube
