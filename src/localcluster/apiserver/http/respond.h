#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/tables/table.h"

namespace koord::apiserver {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";

// Answers a request at once. JSON is indented where the client likes that.
void Respond(Core& core, Request& request, int code, std::string body,
             std::string_view content_type = kJson);
// An answer with headers of its own, made from ResponseHead.
void RespondWith(Core& core, Request& request, kube::HttpResponse response);
void RespondError(Core& core, Request& request, const Status& status);
// 404 in plain text: nobody serves this path.
void RespondNoSuchPath(Core& core, Request& request);

// Opens a stream of JSON documents, one a line.
void StartStream(Core& core, Request& request);

// Answers with a stored object, in the version and shape that the client asked for, as soon as the
// object is durable.
void RespondEntry(Core& core, RequestPtr request, int code, EntryPtr entry);

// A stored object in the version and shape that the client asked for.
std::string RenderEntry(const Core& core, const Request& request, const Entry& entry);
TableOptions TableOptionsFor(const Core& core, const Request& request);

// The headers that every answer carries.
kube::HttpResponse ResponseHead(const Request& request, int code, std::string_view content_type);

}  // namespace koord::apiserver
