#include "localcluster/apiserver/core/request.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/strings.h"
#include "localcluster/apiserver/core/errors.h"

namespace koord::apiserver {
namespace {

constexpr std::string_view kOffered = "application/json";

// Null if `media` asks for something that we cannot make.
std::optional<Output> OutputFor(const MediaType& media) {
  const bool json =
      media.type == "application/json" || media.type == "application/*" || media.type == "*/*";
  if (!json) return {};
  const std::string_view as = media.Get("as");
  if (as.empty()) return Output{};
  const std::string_view version = media.Get("v");
  if (media.Get("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return {};
  if (as == "Table") return Output{Output::Kind::kTable, std::string(version)};
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
    return Output{Output::Kind::kPartial, std::string(version)};
  }
  return {};
}

}  // namespace

std::string_view Query::Get(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::Has(std::string_view name) const {
  return std::any_of(items_.begin(), items_.end(),
                     [&](const auto& item) { return item.first == name; });
}

std::vector<std::string_view> Query::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : items_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::IsTrue(std::string_view name) const {
  const std::string_view value = Get(name);
  for (const char* word : {"1", "t", "T", "true", "True", "TRUE"}) {
    if (value == word) return true;
  }
  return false;
}

StatusOr<std::optional<int64_t>> Query::Integer(std::string_view name) const {
  const std::string_view text = Get(name);
  if (text.empty()) return std::optional<int64_t>();
  const auto number = ParseInt(text);
  if (!number) {
    return BadRequest("unable to decode query parameter {}: {} is not an integer", name,
                      Quote(text));
  }
  return number;
}

std::string_view MediaType::Get(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

std::vector<MediaType> ParseAccept(std::string_view accept) {
  std::vector<MediaType> types;
  for (const std::string_view alternative : Split(accept, ',')) {
    const auto parts = Split(alternative, ';');
    MediaType media;
    media.type = ToLower(Trim(parts.front()));
    if (media.type.empty()) continue;
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::string_view part = Trim(parts[i]);
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) continue;
      media.parameters.emplace_back(ToLower(Trim(part.substr(0, equals))),
                                    std::string(Trim(part.substr(equals + 1))));
    }
    types.push_back(std::move(media));
  }
  return types;
}

StatusOr<Output> NegotiateOutput(std::string_view accept) {
  // What almost every request says.
  if (accept.empty() || accept == "application/json" || accept == "*/*") return Output{};
  const std::vector<MediaType> types = ParseAccept(accept);
  if (types.empty()) return Output{};
  for (const MediaType& media : types) {
    if (auto output = OutputFor(media)) return *output;
  }
  return NotAcceptable(kOffered);
}

bool Request::pretty() const {
  if (query.Has("pretty")) return query.IsTrue("pretty");
  const std::string_view agent = http.headers.Get("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget");
}

bool ParseTarget(Request& request) {
  const auto url = boost::urls::parse_origin_form(request.http.target);
  if (!url) return false;
  // Clients and proxies may double or append slashes; they never mean anything.
  for (const auto& segment : url->segments()) {
    if (!IsValidUtf8(segment)) return false;
    if (!segment.empty()) request.path.push_back(segment);
  }
  for (const auto& parameter : url->params()) {
    if (!IsValidUtf8(parameter.key) || !IsValidUtf8(parameter.value)) return false;
    request.query.Add(parameter.key, parameter.value);
  }
  return true;
}

}  // namespace koord::apiserver
