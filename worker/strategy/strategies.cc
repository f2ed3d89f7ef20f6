#include "worker/strategy/strategies.h"

#include "glog/logging.h"
#include "paceline/v1/job.pb.h"
#include "worker/strategy/central_storage.h"
#include "worker/strategy/mirrored.h"
#include "worker/strategy/parameter_server.h"

namespace paceline {
namespace {

constexpr struct {
  v1::Strategy strategy;
  absl::StatusOr<std::unique_ptr<Strategy>> (*make)(const StrategyParts& parts);
} kStrategies[] = {
    {v1::STRATEGY_PARAMETER_SERVER, MakeParameterServer},
    {v1::STRATEGY_MULTI_WORKER_MIRRORED, MakeMirrored},
    {v1::STRATEGY_MIRRORED, MakeMirrored},
    {v1::STRATEGY_CENTRAL_STORAGE, MakeCentralStorage},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(
    const StrategyParts& parts) {
  const v1::Strategy strategy = parts.registration.job().strategy();
  for (const auto& each : kStrategies) {
    if (each.strategy == strategy) return each.make(parts);
  }
  LOG(FATAL) << "no factory for strategy " << strategy;
}

}  // namespace paceline
