#include "common/operations/operation.h"

#include "common/operations/function.h"
#include "glog/logging.h"

namespace paceline::op {

Gradients Operation::AddGradient(const CallGradient& /*call*/) const {
  LOG(FATAL) << name() << " has no gradient";
}

}  // namespace paceline::op
