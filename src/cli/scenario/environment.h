#pragma once
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "kube/client/client.h"

namespace koord::scenario {

// The cluster that a scenario runs in.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual kube::Client& client() = 0;
  virtual const std::string& default_namespace() const = 0;

  // Runs the cluster until `done` holds; false if it does not within a minute.
  virtual bool RunUntil(const std::function<bool()>& done) = 0;
  // Runs the cluster until nothing is under way any more.
  virtual void Settle() = 0;
  // Lets time pass.
  virtual void Advance(Duration span) = 0;
  // How long an expectation may take to become true. Zero where Settle leaves nothing to wait for.
  virtual Duration patience() const = 0;
  // The scenario has made this object.
  virtual void Created(const kube::Resource& resource, const kube::Json& object) = 0;
  // Whether the object is the scenario's to change. A cluster of its own is so altogether.
  virtual bool Owns(std::string_view kind, const kube::ObjectKey& key) const = 0;
  // Whether a reference, such as that of an event, is to an object that is the scenario's, and not
  // to one of the same name that was there before.
  virtual bool OwnsReferenced(const kube::Json& reference) const {
    return Owns(kube::FindString(reference, {"kind"}),
                {std::string(kube::FindString(reference, {"namespace"})),
                 std::string(kube::FindString(reference, {"name"}))});
  }
  // Removes what was made from a cluster that outlives the scenario.
  virtual Status CleanUp() { return absl::OkStatus(); }
  // The user wants to stop.
  virtual bool interrupted() const { return false; }
};

// Calls the API and waits for the answer: `call` receives the callback to pass on.
StatusOr<kube::Json> Await(Environment& environment,
                           const std::function<void(kube::Client::Done)>& call);

}  // namespace koord::scenario
