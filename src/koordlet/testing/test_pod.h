#pragma once
#include <memory>
#include <string_view>

#include "kube/objects/node.h"
#include "kube/objects/pod.h"

namespace koord::koordlet {

// A pod that runs, from as much YAML as the test cares about. What it leaves out: the namespace is
// "default", the uid is the name, the phase Running, and each container (init containers, which
// have ended, aside) runs as containerd://<pod>-<container>. Bad YAML ends the test program.
std::shared_ptr<const kube::Pod> TestPod(std::string_view yaml);

std::shared_ptr<const kube::Node> TestNode(std::string_view yaml);

}  // namespace koord::koordlet
