#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/json.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// Answers people's questions, at /apis/v1/plugins/<plugin>/<path>.
class ServicePlugin : public virtual Plugin {
 public:
  using Params = std::map<std::string, std::string, std::less<>>;
  struct Endpoint {
    std::string path;  // "node/{node}"; what is in braces is a parameter, as is what a query says
    // A kNotFound is answered as 404, other errors as 500, both with the message.
    std::function<StatusOr<kube::Json>(const Params&)> answer;
  };
  virtual std::vector<Endpoint> Endpoints() = 0;
};

}  // namespace koord::scheduler
