#pragma once
#include <optional>

#include "api/elastic_quota.h"
#include "kube/controller/write.h"
#include "model/quota/quota_status.h"

namespace koord::scheduler {

// Makes an ElasticQuota say what is true of it; nothing if it does already, zeros aside. Refused by
// the server if anybody has written the object since it was seen.
//
// `keep_admitted`: its child-request stays, if that is more than is known of.
std::optional<kube::Write> QuotaStatusPatch(const api::ElasticQuota& object,
                                            const model::QuotaStatus& status,
                                            const model::Dimensions& dimensions,
                                            bool keep_admitted = false);

// Whether the object says that more is requested than is known of: somebody may have been admitted
// of whom we have not heard yet.
bool AdmitsMore(const api::ElasticQuota& object, const model::QuotaStatus& status,
                const model::Dimensions& dimensions);

}  // namespace koord::scheduler
