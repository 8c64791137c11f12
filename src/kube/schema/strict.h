#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"
#include "kube/schema/reported_fields.h"
#include "kube/schema/type.h"

namespace koord::kube {

struct ConformOptions {
  // Leave out what Kubernetes' encoder leaves out: "", 0, false, [] and {} of members for which
  // zero means absent. Switch it off for documents that are no whole objects (patches, applied
  // configurations).
  bool omit_empty = true;
};

// Makes a document what Kubernetes would make of it by decoding it into its own types and encoding
// it again: unknown members go (their paths, "spec.containers[0].foo", are added to `unknown` in
// document order), nulls go, quantities and times get their canonical text. A member of the wrong
// type is an error that names it ("spec.replicas: expected an integer, found a string"); the
// document is then half done and of no use.
Status Conform(const Type& type, Json& document, ReportedFields& unknown,
               const ConformOptions& options = {});

// Paths of members that occur twice in the same object of a JSON text ("spec.replicas"), in the
// order of their second occurrence. The text must have parsed without error.
ReportedFields FindDuplicateFields(std::string_view text);

}  // namespace koord::kube
