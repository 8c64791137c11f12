#pragma once
// For tests: a server that keeps objects in memory, lists and watches them, and takes writes.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api_error.h"
#include "kube/http.h"
#include "kube/json.h"
#include "kube/patch/merge_patch.h"

namespace koord::kube {

class ObjectServer final : public HttpHandler {
 public:
  // "/api/v1/pods" and an object with a name, and a namespace unless it has none.
  void Put(const std::string& collection, Json object) {
    At(object, {"metadata", "resourceVersion"}) = std::to_string(++version_);
    const std::string name(FindString(object, {"metadata", "name"}));
    Json& stored = objects_[collection][name];
    const bool is_new = stored.is_null();
    if (is_new) At(object, {"metadata", "uid"}) = "uid-" + std::to_string(version_);
    stored = std::move(object);
    Tell(collection, is_new ? "ADDED" : "MODIFIED", stored);
  }
  const Json& Get(const std::string& collection, const std::string& name) {
    return objects_[collection][name];
  }

  // From now on watches show nothing, until they are released.
  void HoldWatches() { held_.emplace(); }
  void ReleaseWatches() {
    const auto held = std::exchange(held_, std::nullopt);
    for (const auto& [collection, line] : *held) Show(collection, line);
  }

  // "GET /api/v1/pods", "PATCH /api/v1/namespaces/ns/pods/a": what was asked, but for watches.
  std::vector<std::string> requests;
  // What is answered instead of doing as asked.
  std::function<std::optional<ApiError>(const std::string& request)> refuse;

  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
    const std::string& target = request.target;
    if (target.find("sendInitialEvents") != target.npos) return writer->Finish({422, {}, "{}"});
    const std::string path = target.substr(0, target.find('?'));
    if (target.find("watch=") != target.npos) {
      writer->StartStream({200, {}, ""});
      return watches_[path].push_back(std::move(writer));
    }
    requests.push_back(request.method + " " + path);
    if (refuse) {
      if (const auto error = refuse(requests.back())) {
        return writer->Finish({error->code, {}, Serialize(error->ToJson())});
      }
    }
    if (request.method == "GET") return writer->Finish({200, {}, Serialize(List(path))});
    if (request.method == "POST") return Create(path, *ParseJson(request.body), *writer);
    Patch(path, *ParseJson(request.body), *writer);
  }

 private:
  // "/api/v1/namespaces/ns/pods" is part of "/api/v1/pods".
  static std::string CollectionOf(const std::string& path) {
    const size_t at = path.find("/namespaces/");
    if (at == path.npos) return path;
    return path.substr(0, at) + path.substr(path.find('/', at + sizeof("/namespaces/")));
  }

  Json List(const std::string& collection) {
    json::array items;
    for (const auto& [name, object] : objects_[collection]) items.push_back(object);
    return {{"kind", "List"},
            {"metadata", {{"resourceVersion", std::to_string(version_)}}},
            {"items", std::move(items)}};
  }

  void Create(const std::string& path, Json object, ResponseWriter& writer) {
    const std::string collection = CollectionOf(path);
    const std::string name(FindString(object, {"metadata", "name"}));
    Put(collection, std::move(object));
    writer.Finish({201, {}, Serialize(objects_[collection][name])});
  }

  void Patch(const std::string& path, const Json& patch, ResponseWriter& writer) {
    const std::string whole = CollectionOf(path);
    const size_t slash = whole.rfind('/');
    const std::string collection = whole.substr(0, slash), name = whole.substr(slash + 1);
    const auto it = objects_[collection].find(name);
    if (it == objects_[collection].end()) {
      const ApiError gone = ApiError::Of(404, "there is no " + name);
      return writer.Finish({404, {}, Serialize(gone.ToJson())});
    }
    Put(collection, *ApplyMergePatch(it->second, patch));
    writer.Finish({200, {}, Serialize(objects_[collection][name])});
  }

  void Tell(const std::string& collection, std::string_view type, const Json& object) {
    const std::string line = Serialize({{"type", type}, {"object", object}}) + "\n";
    if (held_) {
      held_->emplace_back(collection, line);
    } else {
      Show(collection, line);
    }
  }
  void Show(const std::string& collection, const std::string& line) {
    for (const auto& watch : watches_[collection]) {
      watch->Write(std::make_shared<const std::string>(line));
    }
  }

  int version_ = 10;
  std::map<std::string, std::map<std::string, Json>> objects_;
  std::map<std::string, std::vector<std::shared_ptr<ResponseWriter>>> watches_;
  std::optional<std::vector<std::pair<std::string, std::string>>> held_;
};

}  // namespace koord::kube
