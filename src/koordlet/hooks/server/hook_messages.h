#pragma once
#include "koordlet/hooks/engine/hook_runner.h"

namespace runtime::v1alpha1 {
class PodSandboxHookRequest;
class PodSandboxHookResponse;
class ContainerResourceHookRequest;
class ContainerResourceHookResponse;
}  // namespace runtime::v1alpha1

// Between the messages of the protocol and what hooks work with.
namespace koord::koordlet::hooks {

SandboxDescription DescriptionOf(const ::runtime::v1alpha1::PodSandboxHookRequest& request);
SandboxDescription PodDescriptionOf(
    const ::runtime::v1alpha1::ContainerResourceHookRequest& request);
ContainerDescription DescriptionOf(
    const ::runtime::v1alpha1::ContainerResourceHookRequest& request);

void Fill(const ::runtime::v1alpha1::PodSandboxHookRequest& request, const PodResult& result,
          ::runtime::v1alpha1::PodSandboxHookResponse& response);
void Fill(const ::runtime::v1alpha1::ContainerResourceHookRequest& request,
          const ContainerResult& result,
          ::runtime::v1alpha1::ContainerResourceHookResponse& response);

}  // namespace koord::koordlet::hooks
