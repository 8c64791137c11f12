#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/boxed.h"
#include "kube/codec.h"
#include "kube/json.h"
#include "kube/objects/meta.h"

// JSON inside annotations and ConfigMap values. People write it by hand, so names match without
// regard to case ("IngressLimit" is ingressLimit), unknown ones are ignored and null leaves a
// member as it was. What we write is deterministic, since others compare it as text.
namespace koord::api {

template <class T>
StatusOr<T> DecodeLoose(std::string_view text);

// Compact, members in the order of the struct, maps by key, <, > and & escaped.
std::string WriteAnnotationJson(const kube::Json& value);

template <class T>
std::string EncodeAnnotation(const T& value) {
  return WriteAnnotationJson(kube::Encode(value));
}

// The payload under a key; nothing where the key is missing. An error names the key.
template <class T>
StatusOr<std::optional<T>> ReadAnnotation(const kube::Annotations& annotations,
                                          std::string_view key);
// The same where an empty text counts as missing.
template <class T>
StatusOr<std::optional<T>> ReadNonEmptyAnnotation(const kube::Annotations& annotations,
                                                  std::string_view key);

}  // namespace koord::api

#include "api/annotation_codec_impl.h"
