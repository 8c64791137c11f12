#pragma once
#include "kube/config_document.h"

namespace koord::validation {

// Reads a DeschedulerConfiguration as strictly as koord-descheduler does: members that do not
// exist, values of the wrong type and plugins that nobody has are errors of the document.
void CheckDeschedulerConfiguration(kube::ConfigDocument& document);

}  // namespace koord::validation
