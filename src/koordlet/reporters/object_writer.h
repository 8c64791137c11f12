#pragma once
#include <memory>
#include <string>

#include "koordlet/states/complaints.h"
#include "kube/client/client.h"
#include "kube/resource.h"

namespace koord::koordlet {

// Writes the one object of this node of a kind. One request at a time: what could not be written is
// worked out anew from what is there then.
class ObjectWriter {
 public:
  ObjectWriter(kube::Client& client, kube::Resource resource, std::string name);
  ~ObjectWriter();

  bool busy() const { return busy_; }
  void Create(const kube::Json& object);
  // A merge patch; of a subresource if it is named.
  void Patch(const kube::Json& patch, const std::string& subresource = {});

 private:
  kube::Client::Done Answered(const char* verb);

  kube::Client& client_;
  const kube::Resource resource_;
  const std::string name_;
  bool busy_ = false;
  Complaints complaints_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace koord::koordlet
