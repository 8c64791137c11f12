#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"
#include "localcluster/shared/write.h"

namespace koord::localcluster {

// Something worth telling the people who look at an object: becomes an Event.
struct Note {
  kube::ObjectReference about;
  bool warning = false;
  std::string reason;
  std::string message;
};

// What a controller has decided to do about one object.
struct Plan {
  std::vector<Write> writes;
  std::vector<Note> notes;        // told when the writes have succeeded
  std::optional<Duration> again;  // look again after this time even if nothing changes

  void Add(std::optional<Write> write) {
    if (write) writes.push_back(*std::move(write));
  }
  void AgainWithin(Duration delay) {
    if (!again || delay < *again) again = delay;
  }
  void Tell(const kube::Resource& resource, const kube::ObjectMeta& about, std::string_view reason,
            std::string message) {
    notes.push_back({Reference(resource, about), false, std::string(reason), std::move(message)});
  }
  void Warn(const kube::Resource& resource, const kube::ObjectMeta& about, std::string_view reason,
            std::string message) {
    notes.push_back({Reference(resource, about), true, std::string(reason), std::move(message)});
  }

 private:
  static kube::ObjectReference Reference(const kube::Resource& resource,
                                         const kube::ObjectMeta& meta) {
    return {.kind = resource.kind,
            .ns = meta.ns,
            .name = meta.name,
            .uid = meta.uid,
            .api_version = resource.api_version(),
            .resource_version = meta.resource_version};
  }
};

}  // namespace koord::localcluster
