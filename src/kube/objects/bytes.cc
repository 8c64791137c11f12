#include "kube/objects/bytes.h"

#include "base/strings.h"

namespace koord::kube {

Status Codec<Bytes>::Read(JsonView in, Bytes& out) {
  if (!in.is_string()) return codec_internal::WrongType("a base64 string", in);
  std::optional<std::string> data = Base64Decode(in.get_string());
  if (!data) return codec_internal::WrongType("a base64 string", in);
  out.data = *std::move(data);
  return absl::OkStatus();
}

Json Codec<Bytes>::Write(const Bytes& value) { return Json(Base64Encode(value.data)); }

}  // namespace koord::kube
