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
  // An object was made here. A cluster that outlives the scenario cleans up after it.
  virtual void Created(const kube::Resource& resource, const kube::ObjectKey& key) = 0;
};

// Calls the API and waits for the answer: `call` receives the callback to pass on.
StatusOr<kube::Json> Await(Environment& environment,
                           const std::function<void(kube::Client::Done)>& call);

}  // namespace koord::scenario
