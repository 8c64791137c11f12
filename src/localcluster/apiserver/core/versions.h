#pragma once
#include <string>
#include <string_view>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/resource_info.h"
#include "localcluster/apiserver/storage/store.h"

// Objects are stored in one version and served in all: here they are turned from one to the other.
namespace koord::apiserver {

// The stored object in the version of `info`.
kube::Json LoadObject(const Core& core, const ResourceInfo& info, const Entry& entry);

// The text of a stored object in the version of `info`: that of the entry itself wherever it can be
// used as it is, else made in `scratch`.
std::string_view TextIn(const Core& core, const ResourceInfo& info, const Entry& entry,
                        std::string& scratch);

// Makes the entry that stores `object`, which is in the version of `info`.
Entry MakeEntry(const ResourceInfo& info, std::string key, const kube::Json& object,
                Revision revision);

// The same entry as the last state of a deleted object, or as seen at a later revision.
Entry AtRevision(const Entry& entry, Revision revision);

// What a field selector compares: the text of the member, or what stands for its absence.
std::string FieldText(const SelectableField& field, const kube::Json& object);

// A stored object's selectable field, by the path of its member ("spec.nodeName"); "" if unset.
std::string_view IndexedField(const Entry& entry, std::string_view path);

}  // namespace koord::apiserver
