#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/http/write_options.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {

// Creates, updates, patches and deletes as requests ask for them, on the main endpoint of a
// resource and on those subresources that are a view of the object itself.
class WriteHandlers {
 public:
  WriteHandlers(Core& core, Writer& writer) : core_(core), writer_(writer) {}

  void Create(RequestPtr request);
  void Update(RequestPtr request);
  void Patch(RequestPtr request);
  void Delete(RequestPtr request);
  void DeleteCollection(RequestPtr request);

 private:
  void CreateDecoded(RequestPtr request, const WriteOptions& options, kube::Json object);
  // Puts the outcome of a patch in order and reports its unknown fields.
  Status NormalizePatched(Request& request, FieldValidation validation, kube::Json& object);
  // Server-side apply.
  void Apply(RequestPtr request, WriteOptions options);
  StatusOr<kube::Json> ReadApplied(Request& request, const WriteOptions& options);
  void ApplyRead(RequestPtr request, const WriteOptions& options,
                 std::shared_ptr<const kube::Json> applied);
  // Decodes and normalises the body of a create or update.
  StatusOr<kube::Json> ReadObject(Request& request, const WriteOptions& options);
  void RespondDeleted(RequestPtr request, const DeleteOptions& options, const Written& written);
  void DeleteNext(RequestPtr request, std::shared_ptr<struct CollectionDeletion> work);

  Core& core_;
  Writer& writer_;
};

// The intent behind a request for a resource.
WriteIntent IntentOf(const RequestPtr& request, const WriteOptions& options);

// DeleteOptions from the body or, without one, from query parameters. Sets `dry_run`.
StatusOr<DeleteOptions> ReadDeleteOptions(const Request& request, bool& dry_run);
StatusOr<DeleteOptions> ParseDeleteOptions(const kube::Json& options, bool& dry_run);

}  // namespace koord::apiserver
