#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/read/list_options.h"
#include "localcluster/apiserver/read/selection.h"

// GET of one object and of a collection.
namespace koord::apiserver {

void GetObject(Core& core, RequestPtr request);
void ListObjects(Core& core, RequestPtr request);

// What a list found, in key order.
struct ListPage {
  std::vector<EntryPtr> entries;
  Revision revision = 0;
  std::string next;                 // continue token; empty on the last page
  std::optional<size_t> remaining;  // how many follow, where that is known
};

// The key prefix that a request for a collection is about: "<namespace>/", or "" for all.
std::string ListPrefix(const Request& request);

StatusOr<ListPage> ReadPage(const Core& core, const Request& request, const ListOptions& options,
                            const Selection& selection);
// A page in the shape that the client asked for.
std::string RenderList(const Core& core, const Request& request, const ListPage& page);

}  // namespace koord::apiserver
