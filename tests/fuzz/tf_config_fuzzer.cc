// The variable TF_CONFIG.
#include "common/cluster/tf_config.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) { ParseTfConfig(input.rest()).IgnoreError(); }

}  // namespace paceline
