#pragma once
#include <string>

#include "base/known_problems.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/resource.h"

namespace koord::koordlet {

// Writes the one object of this node of a kind. One request at a time: what could not be written is
// worked out anew from what is there then.
class ObjectWriter {
 public:
  ObjectWriter(kube::Client& client, kube::Resource resource, std::string name);

  bool busy() const { return busy_; }
  void Create(const kube::Json& object);
  // A merge patch; of a subresource if it is named.
  void Patch(const kube::Json& patch, const std::string& subresource = {});

 private:
  // What is written comes back with the next look at the object: nobody reads the answer.
  kube::Client::Done Sent(const char* verb);
  void Answered(const char* verb, const Status& status);

  kube::Client& client_;
  const kube::Resource resource_;
  const std::string name_;
  bool busy_ = false;
  KnownProblems known_problems_;
  Scope scope_;
};

}  // namespace koord::koordlet
