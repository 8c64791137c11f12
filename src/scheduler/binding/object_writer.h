#pragma once
#include <optional>
#include <string>

#include "kube/client/client.h"
#include "kube/json.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// Writes to the API server what becomes of an object that is scheduled. The rest of the scheduler
// sees pods alone: only the writer knows whether there is such a pod, or a Reservation that it
// stands for.
class ObjectWriter {
 public:
  struct Failure {
    bool rejected = true;  // or an internal error
    std::string message;
    // The promised node to write; "" clears it; nothing leaves it alone.
    std::optional<std::string> nominated_node = {};
  };

  virtual ~ObjectWriter() = default;

  // What events about it are about, and its name in messages.
  virtual kube::ObjectReference ReferenceTo(const kube::Pod& pod) const = 0;
  virtual std::string NameOf(const kube::Pod& pod) const = 0;

  // Merges labels and annotations into the object, if it is the very one; null removes.
  virtual void PatchMetadata(const kube::Pod& pod, kube::json::object metadata,
                             kube::Client::Done done) = 0;
  // In its conditions, unless they say so already.
  virtual void ShowFailure(const kube::Pod& pod, const Failure& failure) = 0;
  // The promised node alone; "": none.
  virtual void ShowPromise(const kube::Pod& pod, const std::string& node) = 0;
};

}  // namespace koord::scheduler
