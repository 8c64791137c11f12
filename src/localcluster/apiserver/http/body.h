#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/json.h"
#include "kube/schema/reported_fields.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"

// Request bodies: from bytes to an object that is in order.
namespace koord::apiserver {

// What to do about fields that a kind does not have, or that occur twice.
enum class FieldValidation { kIgnore, kWarn, kStrict };

// A decoded body and the fields that occurred twice in it.
struct Body {
  kube::Json object;
  kube::ReportedFields duplicates;
};

// The media type of the body without its parameters; application/json if none is given.
std::string BodyType(const Request& request);

// JSON, YAML or, for kinds that have a protobuf form, protobuf. The result is a JSON object.
StatusOr<Body> DecodeBody(const Request& request, bool allow_protobuf);

// The object must be of this kind; a missing apiVersion or kind is filled in.
Status CheckKind(const kube::Resource& resource, kube::Json& object);
// The same of the body of a request to create or replace: custom resources have to say themselves
// what they are.
Status CheckKindOfBody(const Request& request, kube::Json& object);
// The same of an applied configuration, which has to say so whatever it is.
Status CheckKindOfApplied(const kube::Resource& resource, kube::Json& object);

// Drops unknown fields and brings values into canonical form, as decoding into Kubernetes' own
// types (or pruning by a custom schema) would; then fills in defaults. `unknown` are the paths
// dropped.
Status Normalize(const Core& core, const ResourceInfo& info, kube::Json& object,
                 kube::ReportedFields& unknown);

// Warns the client of unknown and duplicate fields, or refuses the request, as it asked.
Status ReportFields(FieldValidation validation, const kube::Resource& resource,
                    const kube::ReportedFields& unknown, const kube::ReportedFields& duplicates,
                    std::vector<std::string>& warnings);

}  // namespace koord::apiserver
