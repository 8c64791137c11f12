#pragma once
#include "kube/json.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/names.h"

namespace koord::apiserver {

// When metadata.generation moves.
enum class GenerationRule {
  kNever,               // configmaps, nodes, ...: the field stays absent
  kSpec,                // a change of spec
  kSpecAndAnnotations,  // deployments
  kContent,             // a change of anything but metadata and status
};

// How the server treats the objects of one resource, where resources differ. A function that is
// null does nothing.
struct Strategy {
  NameRule name = NameRule::kSubdomain;
  bool unconditional_update = true;     // a PUT without resourceVersion: the last writer wins
  bool create_on_update = false;        // a PUT of an object that does not exist creates it
  bool graceful_deletion = false;       // objects wait out a grace period
  bool keeps_status_on_create = false;  // nodes register with their status
  bool returns_deleted = false;         // DELETE answers with the object instead of a Status
  GenerationRule generation = GenerationRule::kNever;

  // Fills in what the user left out. Must not change an object that it has already filled in.
  void (*set_defaults)(kube::Json& object) = nullptr;
  // What the server decides on creation or carries over on update, whatever the client sent.
  void (*prepare_create)(kube::Json& object) = nullptr;
  void (*prepare_update)(kube::Json& object, const kube::Json& old) = nullptr;

  void (*validate)(const kube::Json& object, FieldErrors& errors) = nullptr;
  // Runs besides `validate`: what may not change.
  void (*validate_update)(const kube::Json& object, const kube::Json& old,
                          FieldErrors& errors) = nullptr;
};

// That of custom resources.
const Strategy& CustomStrategy();

}  // namespace koord::apiserver
