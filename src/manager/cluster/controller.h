#pragma once

namespace koord::manager {

// Keeps something of the cluster as it should be. Nothing is done before Start, which looks at
// everything that there is.
class Controller {
 public:
  Controller() = default;
  virtual ~Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // When all informers have their first lists, and this instance leads.
  virtual void Start() = 0;
  virtual void Stop() = 0;
  // Nothing is waiting to be looked at or under way.
  virtual bool idle() const = 0;
};

}  // namespace koord::manager
