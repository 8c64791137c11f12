#pragma once
#include <set>
#include <string>
#include <string_view>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/read/watch.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {

// Keeps the custom resources that are served in step with the CustomResourceDefinitions in the
// store.
//
// A definition is served from the moment it is stored, provided that its names were free. One that
// is deleted first loses all of its objects; it goes when the last of them has.
class Definitions {
 public:
  Definitions(Core& core, Writer& writer, Watches& watches);

 private:
  void OnWritten(const EntryPtr& before, const EntryPtr& after);
  void Install(const Entry& entry);
  void Uninstall(const std::string& name);
  // A name has become free: somebody may have waited for it.
  void AcceptWaiting(std::string_view group);
  void DeleteObjects(const std::string& name);
  void FinishDeletion(const std::string& name);
  WriteIntent IntentFor(const ResourceInfoPtr& info, std::string_view key) const;

  Core& core_;
  Writer& writer_;
  Watches& watches_;
  ResourceInfoPtr definition_info_;
  std::set<std::string> observed_;  // custom resources whose writes we are told of
};

}  // namespace koord::apiserver
