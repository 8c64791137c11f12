#include "localcluster/apiserver/read/read.h"

#include <algorithm>

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_text.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/http/respond.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr std::string_view kExpiredList =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list.";

void FindAndRespond(Core& core, RequestPtr request) {
  const kube::Resource& resource = request->info->resource;
  EntryPtr entry = core.store.Get(request->info->stored_as(), KeyOf(request->ns, request->name));
  if (entry != nullptr) return RespondEntry(core, std::move(request), 200, std::move(entry));
  // That it is gone may itself be news that is not durable yet.
  core.WhenDurable(core.store.revision(), [&core, request, &resource] {
    RespondError(core, *request, ObjectNotFound(resource, request->name));
  });
}

// The Status of a token whose snapshot is gone carries one that goes on without it.
void RespondExpiredToken(Core& core, Request& request, const ContinueToken& token) {
  kube::ApiError error;
  error.code = 410;
  error.reason = "Expired";
  error.message = kExpiredList;
  Json status = error.ToJson();
  kube::At(status, {"metadata", "continue"}) = ContinueToken{-1, token.start}.Encode();
  Respond(core, request, 410, kube::Serialize(status));
}

Revision SnapshotOf(const ListOptions& options) {
  if (options.next) return options.next->revision > 0 ? options.next->revision : 0;
  return options.match == ListOptions::Match::kExact ? options.revision : 0;
}

void AppendListMeta(std::string& text, const ListPage& page) {
  text += "\"metadata\":{\"resourceVersion\":\"" + std::to_string(page.revision) + "\"";
  if (!page.next.empty()) text += ",\"continue\":\"" + page.next + "\"";
  if (page.remaining) text += ",\"remainingItemCount\":" + std::to_string(*page.remaining);
  text += "}";
}

Json ListMeta(const ListPage& page) {
  json::object meta{{"resourceVersion", std::to_string(page.revision)}};
  if (!page.next.empty()) meta["continue"] = page.next;
  if (page.remaining) meta["remainingItemCount"] = *page.remaining;
  return meta;
}

std::string RenderTable(const Core& core, const Request& request, const ListPage& page) {
  std::vector<Json> objects;
  objects.reserve(page.entries.size());
  for (const EntryPtr& entry : page.entries) {
    objects.push_back(LoadObject(core, *request.info, *entry));
  }
  std::vector<const Json*> pointers;
  for (const Json& object : objects) pointers.push_back(&object);
  TableOptions options = TableOptionsFor(core, request);
  options.metadata = ListMeta(page);
  return kube::Serialize(MakeTable(*request.info, pointers, options));
}

std::string RenderPartialList(const Request& request, const ListPage& page) {
  std::string text = "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/" +
                     request.output.version + "\",";
  AppendListMeta(text, page);
  text += ",\"items\":[";
  for (size_t i = 0; i < page.entries.size(); ++i) {
    if (i > 0) text += ',';
    text += PartialText(page.entries[i]->value, request.output.version);
  }
  return text += "]}";
}

void ListNow(Core& core, RequestPtr request, const ListOptions& options,
             const Selection& selection) {
  StatusOr<ListPage> page = ReadPage(core, *request, options, selection);
  if (!page.ok()) {
    if (options.next && absl::IsOutOfRange(page.status())) {
      return RespondExpiredToken(core, *request, *options.next);
    }
    if (absl::IsOutOfRange(page.status())) {
      return RespondError(
          core, *request,
          Error(410, "Expired", "The resourceVersion for the provided list is too old."));
    }
    return RespondError(core, *request, page.status());
  }
  const Revision seen = std::min(page->revision, core.store.revision());
  core.WhenDurable(seen, [&core, request, page = std::move(*page)] {
    Respond(core, *request, 200, RenderList(core, *request, page));
  });
}

}  // namespace

void GetObject(Core& core, RequestPtr request) {
  const StatusOr<Revision> wanted = ParseRevision(request->query.Get("resourceVersion"));
  if (!wanted.ok()) return RespondError(core, *request, wanted.status());
  core.WhenReached(*wanted, [&core, request, wanted = *wanted](bool reached) {
    if (reached) return FindAndRespond(core, request);
    RespondError(core, *request, RevisionTooLarge(wanted, core.store.revision()));
  });
}

void ListObjects(Core& core, RequestPtr request) {
  const StatusOr<ListOptions> options = ListOptions::ForList(*request);
  if (!options.ok()) return RespondError(core, *request, options.status());
  StatusOr<Selection> selection = Selection::Of(*request);
  if (!selection.ok()) return RespondError(core, *request, selection.status());
  core.WhenReached(options->revision, [&core, request, options = *options,
                                       selection = std::move(*selection)](bool reached) {
    if (reached) return ListNow(core, request, options, selection);
    RespondError(core, *request, RevisionTooLarge(options.revision, core.store.revision()));
  });
}

std::string ListPrefix(const Request& request) {
  return request.ns.empty() ? std::string() : request.ns + "/";
}

StatusOr<ListPage> ReadPage(const Core& core, const Request& request, const ListOptions& options,
                            const Selection& selection) {
  const std::string resource = request.info->stored_as();
  const std::string prefix = ListPrefix(request);
  const Revision at = SnapshotOf(options);
  // A list that accepts any state ("0") ignores the limit, as a server's cache does.
  const bool any_state = options.has_revision && options.revision == 0;
  const size_t limit = any_state ? 0 : options.limit;

  ListPage page;
  page.revision = at != 0 ? at : core.store.revision();
  const std::string start = options.next ? prefix + options.next->start : prefix;
  size_t after = 0;
  const Status status = core.store.Range(resource, prefix, start, at, [&](const EntryPtr& entry) {
    if (limit != 0 && page.entries.size() == limit) {
      // One more match proves that there is a next page; without selectors all are counted.
      if (!selection.Matches(*entry)) return true;
      ++after;
      return selection.everything();
    }
    if (selection.Matches(*entry)) page.entries.push_back(entry);
    return true;
  });
  if (!status.ok()) return status;
  if (after > 0) {
    const std::string_view last = page.entries.back()->key;
    ContinueToken next{static_cast<int64_t>(page.revision),
                       std::string(last.substr(prefix.size()))};
    next.start += '\0';
    page.next = next.Encode();
    if (selection.everything()) page.remaining = after;
  }
  return page;
}

std::string RenderList(const Core& core, const Request& request, const ListPage& page) {
  if (request.output.kind == Output::Kind::kTable) return RenderTable(core, request, page);
  if (request.output.kind == Output::Kind::kPartial) return RenderPartialList(request, page);

  const ResourceInfo& info = *request.info;
  size_t size = 256;
  for (const EntryPtr& entry : page.entries) size += entry->value.size() + 1;
  std::string text;
  text.reserve(size);
  text += "{\"kind\":\"" + info.list_kind + "\",\"apiVersion\":\"" + info.resource.api_version() +
          "\",";
  AppendListMeta(text, page);
  text += ",\"items\":[";
  std::string scratch;
  for (size_t i = 0; i < page.entries.size(); ++i) {
    if (i > 0) text += ',';
    const std::string_view item = TextIn(core, info, *page.entries[i], scratch);
    if (info.custom) {
      text += item;
    } else {
      // The list itself says what built-in items are.
      text += '{';
      text += WithoutKind(item);
    }
  }
  return text += "]}";
}

}  // namespace koord::apiserver
