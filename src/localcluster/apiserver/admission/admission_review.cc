#include "localcluster/apiserver/admission/admission_review.h"

#include <utility>

#include "base/strings.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

std::string_view ApiVersion(const ReviewForm& form) {
  return form.beta ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1";
}

Json KindOf(const kube::Resource& resource) {
  return json::object{
      {"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
}

Json ResourceOf(const kube::Resource& resource) {
  return json::object{
      {"group", resource.group}, {"version", resource.version}, {"resource", resource.resource}};
}

// The kind that travels: subresources speak of another one (Binding, Scale) than their parent.
Json TravellingKind(const AdmissionRequest& request, const kube::Resource& resource) {
  const Json& object = request.object.is_object() ? request.object : request.old_object;
  const std::string_view kind = kube::FindString(object, {"kind"});
  if (request.subresource.empty() || kind.empty() || kind == resource.kind) return KindOf(resource);
  const std::string_view api_version = kube::FindString(object, {"apiVersion"});
  const size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  return json::object{{"group", core ? "" : api_version.substr(0, slash)},
                      {"version", core ? api_version : api_version.substr(slash + 1)},
                      {"kind", kind}};
}

Json UserOf(const kube::UserInfo& user) {
  json::object info{{"username", user.name}};
  if (!user.uid.empty()) info["uid"] = user.uid;
  if (!user.groups.empty()) info["groups"] = json::value_from(user.groups);
  if (!user.extra.empty()) info["extra"] = json::value_from(user.extra);
  return info;
}

Json Renamed(const Json& object, const AdmissionRequest& request, const kube::Resource& resource) {
  Json renamed = object;
  if (resource != request.resource && renamed.is_object()) {
    renamed.get_object()["apiVersion"] = resource.api_version();
  }
  return renamed;
}

StatusOr<Json> ReadPatch(const Json& response, const ReviewForm& form) {
  const Json* patch = kube::Find(response, {"patch"});
  const std::string_view type = kube::FindString(response, {"patchType"});
  const std::string_view encoded = patch == nullptr ? "" : kube::FindString(*patch, {});
  if (!form.mutating) {
    if (form.beta || (encoded.empty() && type.empty())) return Json();
    return InvalidArgument("a validating webhook must not return response.patch or patchType");
  }
  if (encoded.empty() && type.empty()) return Json();
  if (encoded.empty() && !form.beta) {
    return InvalidArgument("webhook returned response.patchType but not response.patch");
  }
  if (encoded.empty()) return Json();
  if (type.empty() && !form.beta) {
    return InvalidArgument("webhook returned response.patch but not response.patchType");
  }
  if (!type.empty() && type != "JSONPatch") {
    return InvalidArgument("webhook returned response.patchType of {}, which is not supported",
                           Quote(type));
  }
  const auto text = Base64Decode(encoded);
  if (!text) return InvalidArgument("response.patch is not base64");
  return kube::ParseJson(*text);
}

Status CheckEnvelope(const Json& review, const ReviewForm& form) {
  const std::string_view kind = kube::FindString(review, {"kind"});
  const std::string_view api_version = kube::FindString(review, {"apiVersion"});
  const std::string_view uid = kube::FindString(review, {"response", "uid"});
  if (kind != "AdmissionReview" || api_version != ApiVersion(form)) {
    return InvalidArgument("expected webhook response of {}, Kind=AdmissionReview, got {}, Kind={}",
                           ApiVersion(form), api_version, kind);
  }
  if (uid != form.uid) {
    return InvalidArgument("expected response.uid={}, got {}", Quote(form.uid), Quote(uid));
  }
  return absl::OkStatus();
}

StatusOr<ReviewAnswer> ReadBody(const Json& review, const ReviewForm& form) {
  const Json* response = kube::Find(review, {"response"});
  if (response == nullptr || !response->is_object()) {
    return InvalidArgument("webhook response was absent");
  }
  if (!form.beta) RETURN_IF_ERROR(CheckEnvelope(review, form));
  ReviewAnswer answer;
  answer.allowed = kube::FindBool(*response, {"allowed"});
  if (const Json* status = kube::Find(*response, {"status"})) answer.status = *status;
  if (const json::array* warnings = kube::FindArray(*response, {"warnings"})) {
    for (const Json& warning : *warnings) {
      if (warning.is_string()) answer.warnings.emplace_back(kube::FindString(warning, {}));
    }
  }
  ASSIGN_OR_RETURN(answer.patch, ReadPatch(*response, form));
  return answer;
}

}  // namespace

Json MakeReview(const AdmissionRequest& request, const kube::Resource& resource,
                const ReviewForm& form) {
  json::object body{{"uid", form.uid},
                    {"kind", TravellingKind(request, resource)},
                    {"resource", ResourceOf(resource)},
                    {"requestKind", TravellingKind(request, request.resource)},
                    {"requestResource", ResourceOf(request.resource)},
                    {"operation", ToString(request.operation)},
                    {"userInfo", UserOf(request.user)},
                    {"object", Renamed(request.object, request, resource)},
                    {"oldObject", Renamed(request.old_object, request, resource)},
                    {"dryRun", request.dry_run},
                    {"options", request.options}};
  if (!request.subresource.empty()) {
    body["subResource"] = request.subresource;
    body["requestSubResource"] = request.subresource;
  }
  if (!request.name.empty()) body["name"] = request.name;
  if (!request.ns.empty()) body["namespace"] = request.ns;
  return json::object{
      {"kind", "AdmissionReview"}, {"apiVersion", ApiVersion(form)}, {"request", std::move(body)}};
}

StatusOr<ReviewAnswer> ReadReview(const kube::HttpResponse& response, const ReviewForm& form) {
  if (response.status != 200) {
    return Unavailable("the webhook answered with HTTP status {}: {}", response.status,
                       Quote(response.body));
  }
  auto review = kube::ParseJson(response.body);
  auto answer = review.ok() ? ReadBody(*review, form) : StatusOr<ReviewAnswer>(review.status());
  if (answer.ok()) return answer;
  return InvalidArgument("received invalid webhook response: {}", Message(answer.status()));
}

kube::ApiError DenialError(std::string_view webhook, const Json& status) {
  const int code = static_cast<int>(kube::FindInt(status, {"code"}));
  kube::ApiError error = kube::ApiError::FromJson(code < 400 ? 400 : code, status);
  const std::string_view message = kube::FindString(status, {"message"});
  const std::string_view reason = kube::FindString(status, {"reason"});
  const std::string_view explanation = message.empty() ? reason : message;
  error.code = code < 400 ? 400 : code;
  error.reason = reason;
  error.message = fmt::format("admission webhook \"{}\" denied the request", webhook);
  if (explanation.empty()) {
    error.message += " without explanation";
  } else {
    error.message.append(": ").append(explanation);
  }
  return error;
}

}  // namespace koord::apiserver
