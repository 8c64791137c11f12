#include "localcluster/controllers/common/revisions.h"

#include <algorithm>

#include "kube/resources.h"
#include "localcluster/controllers/common/template_hash.h"

namespace koord::localcluster {
namespace {

using kube::Json;

// A strategic merge patch that puts the template back, as kubectl applies it.
Json DataOf(const Json& pod_template) {
  Json data{{"spec", {{"template", pod_template}}}};
  kube::At(data, {"spec", "template", "$patch"}) = "replace";
  return data;
}

int64_t HighestNumber(const RevisionList& revisions) {
  int64_t highest = 0;
  for (const RevisionPtr& revision : revisions) highest = std::max(highest, revision->revision);
  return highest;
}

Json NewRevision(const RevisionInput& input, const RevisionChoice& choice, Json data) {
  const Json* labels = kube::Find(input.pod_template, {"metadata", "labels"});
  Json revision{
      {"metadata",
       {{"name", choice.name},
        {"namespace", input.owner.meta.ns},
        {"labels", labels != nullptr && labels->is_object() ? *labels : kube::json::object{}},
        {"ownerReferences", kube::json::array{ControllerReference(input.owner)}}}},
      {"data", std::move(data)},
      {"revision", HighestNumber(input.revisions) + 1}};
  kube::At(revision, {"metadata", "labels", kControllerRevisionHash}) = choice.hash;
  return revision;
}

}  // namespace

RevisionChoice ChooseRevision(const RevisionInput& input, kube::Plan& plan) {
  Json data = DataOf(input.pod_template);
  const std::string prefix = input.owner.meta.name + "-";
  RevisionPtr known;
  for (const RevisionPtr& revision : input.revisions) {
    const bool newer = known == nullptr || revision->revision > known->revision;
    if (newer && kube::Equal(revision->data, data)) known = revision;
  }
  if (known != nullptr) {
    const int64_t highest = HighestNumber(input.revisions);
    if (known->revision < highest) {
      plan.Add(
          MergePatch(kube::kControllerRevisions, known->metadata, {{"revision", highest + 1}}));
    }
    const std::string& name = known->metadata.name;
    const bool named_by_us = name.starts_with(prefix);
    return {.name = name, .hash = named_by_us ? name.substr(prefix.size()) : name};
  }
  RevisionChoice choice;
  choice.hash = HashName(data, input.collision_count);
  choice.name = prefix + choice.hash;
  choice.usable = !input.is_taken(choice.name);
  if (choice.usable) {
    plan.Add(Create(kube::kControllerRevisions, NewRevision(input, choice, std::move(data))));
  }
  return choice;
}

const Json* TemplateOf(const kube::ControllerRevision& revision) {
  return kube::Find(revision.data, {"spec", "template"});
}

void TidyRevisions(const RevisionList& revisions, const std::vector<std::string>& names_in_use,
                   int32_t limit, kube::Plan& plan) {
  RevisionList unused;
  std::copy_if(revisions.begin(), revisions.end(), std::back_inserter(unused),
               [&](const RevisionPtr& revision) {
                 return std::find(names_in_use.begin(), names_in_use.end(),
                                  revision->metadata.name) == names_in_use.end();
               });
  const auto keep = static_cast<size_t>(std::max(limit, 0));
  if (unused.size() <= keep) return;
  std::stable_sort(unused.begin(), unused.end(), [](const RevisionPtr& a, const RevisionPtr& b) {
    return a->revision < b->revision;
  });
  for (size_t i = 0; i < unused.size() - keep; ++i) {
    plan.Add(Delete(kube::kControllerRevisions, unused[i]->metadata));
  }
}

}  // namespace koord::localcluster
