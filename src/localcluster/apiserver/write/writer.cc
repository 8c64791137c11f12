#include "localcluster/apiserver/write/writer.h"

#include <utility>

#include "localcluster/apiserver/core/versions.h"

namespace koord::apiserver {

Written Writer::Replace(const WriteIntent& intent, const Entry& current, const kube::Json& object,
                        bool remove) {
  const ResourceInfo& info = *intent.info;
  if (intent.dry_run) {
    auto entry = std::make_shared<Entry>(MakeEntry(info, current.key, object, current.revision));
    return {.entry = std::move(entry), .removed = remove};
  }
  if (remove) return {.entry = core_.Remove(info, current.key, object), .removed = true};
  return {.entry = core_.Put(info, current.key, object)};
}

}  // namespace koord::apiserver
