#include "worker/strategy/mirrored.h"

#include <utility>

#include "common/base/status_macros.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/broadcast_variables.h"
#include "worker/strategy/device_update.h"

namespace paceline {
namespace {

WireType WireTypeOf(v1::WirePrecision precision) {
  switch (precision) {
    case v1::WIRE_PRECISION_FLOAT16:
      return WireType::kFloat16;
    case v1::WIRE_PRECISION_BFLOAT16:
      return WireType::kBFloat16;
    default:
      return WireType::kNative;
  }
}

// Also shares variables initialised from the seed: processors may differ in the
// last bits of initial values.
absl::Status ShareVariables(const StrategyParts& parts) {
  parts.on_waiting("the variables of the first replica");
  RETURN_IF_ERROR(BroadcastVariables(*parts.transport, parts.plan.layout(),
                                     *parts.variables));
  parts.on_waiting("");
  return parts.variables->Upload(parts.stream);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Strategy>> MakeMirrored(
    const StrategyParts& parts) {
  RETURN_IF_ERROR(ShareVariables(parts));
  if (parts.state.device_updates() != nullptr) {
    return std::make_unique<DeviceUpdateStrategy>(*parts.variables,
                                                  parts.group);
  }
  AllReduceOptions options;
  options.wire = WireTypeOf(parts.registration.job().wire_precision());
  options.clipping = parts.optimizer.clipping;
  options.on_waiting = parts.on_waiting;
  options.trace = parts.trace;
  return std::make_unique<AllReduceStrategy>(
      std::move(options), *parts.transport, parts.plan, *parts.variables,
      parts.state, parts.stream);
}

}  // namespace paceline
