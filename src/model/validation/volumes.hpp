// Claims of pending pods that nothing in the input answers. Part of validation.cpp.
#pragma once

namespace makeway {

class Findings;

void lint_pod_claims(Findings& findings);

}  // namespace makeway
