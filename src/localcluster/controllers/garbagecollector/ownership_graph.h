#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/controller/plan.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"

namespace koord::localcluster {

inline constexpr std::string_view kForegroundDeletion = "foregroundDeletion";
inline constexpr std::string_view kOrphan = "orphan";

// Who belongs to whom, over objects of all kinds, and what follows from it.
class OwnershipGraph {
 public:
  using MetaPtr = std::shared_ptr<const kube::ObjectMeta>;

  struct Object {
    kube::Resource resource;
    MetaPtr meta;
  };

  // What is to be done about one object.
  struct Verdict {
    kube::Plan plan;
    std::vector<std::string> look_at;  // UIDs of objects that have to be looked at now
    // Owners that nobody has seen: whether they exist has to be found out first.
    std::vector<kube::OwnerReference> unknown_owners;
  };

  void Put(const kube::Resource& resource, MetaPtr meta);
  // The object is gone for good; its UID never comes back.
  void Remove(const std::string& uid);
  // The server says that no object of that UID exists.
  void MarkAbsent(const std::string& uid) { absent_.insert(uid); }

  const Object* Find(std::string_view uid) const;
  std::vector<std::string> DependentsOf(std::string_view uid) const;  // sorted
  std::vector<std::string> AllUids() const;                           // sorted

  // Whether an object could need anything at all; cheap.
  bool IsSuspect(const std::string& uid) const;

  // An object all of whose owners are gone is deleted. References to owners that are gone are
  // dropped if others remain. An owner that is deleted in the foreground stays until the dependents
  // that block it are gone; they are deleted now. One that is deleted as an orphan maker stays
  // until its dependents no longer refer to it.
  Verdict Judge(const std::string& uid) const;

 private:
  enum class OwnerState { kThere, kWaiting, kGone, kUnknown };

  OwnerState StateOf(const kube::OwnerReference& owner) const;
  void Unlink(const std::string& uid, const std::vector<kube::OwnerReference>& owners);
  void JudgeForeground(const Object& object, Verdict& verdict) const;
  void JudgeOrphaning(const Object& object, Verdict& verdict) const;
  void JudgeOwners(const Object& object, Verdict& verdict) const;

  StringMap<Object> objects_;
  StringMap<std::set<std::string>> dependents_;  // by the owner's UID, whether it is there or not
  StringSet absent_;
};

}  // namespace koord::localcluster
