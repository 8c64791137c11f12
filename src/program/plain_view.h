#pragma once
#include <memory>
#include <string>

#include "kube/http.h"

namespace koord::program {

struct PlainViewOptions {
  bool metrics = false;  // for everybody, too
  // For those who ask for more: where that is answered. 0: nowhere.
  int secure_port = 0;
};

// What of a component's answers everybody may have who reaches its plain port: its health, and its
// metrics if the administrator says so. All else is refused with a text that says where to ask.
class PlainView final : public kube::HttpHandler {
 public:
  PlainView(kube::HttpHandler& all, PlainViewOptions options) : all_(all), options_(options) {}

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;

 private:
  std::string WhereToAsk(const std::string& path) const;

  kube::HttpHandler& all_;
  const PlainViewOptions options_;
};

}  // namespace koord::program
