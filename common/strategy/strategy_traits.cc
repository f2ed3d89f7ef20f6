#include "common/strategy/strategy_traits.h"

#include <array>
#include <cstddef>
#include <iterator>

#include "glog/logging.h"

namespace paceline {
namespace {

constexpr StrategyTraits kStrategies[] = {
    {.strategy = v1::STRATEGY_PARAMETER_SERVER,
     .name = "parameter_server",
     .variables = VariablePlacement::kParameterServers,
     .has_several_workers = true,
     .has_several_devices = false,
     .replicas_step_together = false},
    {.strategy = v1::STRATEGY_MULTI_WORKER_MIRRORED,
     .name = "multi_worker_mirrored",
     .variables = VariablePlacement::kEachReplica,
     .has_several_workers = true,
     .has_several_devices = false,
     .replicas_step_together = true},
    {.strategy = v1::STRATEGY_MIRRORED,
     .name = "mirrored",
     .variables = VariablePlacement::kEachReplica,
     .has_several_workers = false,
     .has_several_devices = true,
     .replicas_step_together = true},
    {.strategy = v1::STRATEGY_CENTRAL_STORAGE,
     .name = "central_storage",
     .variables = VariablePlacement::kFirstReplica,
     .has_several_workers = false,
     .has_several_devices = true,
     .replicas_step_together = true},
};

// A worker that sums gradients with other workers takes part in their group
// with a single replica.
constexpr bool HavePeersOneDevice() {
  for (const StrategyTraits& each : kStrategies) {
    if (each.workers_are_peers() && each.has_several_devices) return false;
  }
  return true;
}
static_assert(HavePeersOneDevice());

constexpr std::array<EnumName<v1::Strategy>, std::size(kStrategies)>
NamesOfAll() {
  std::array<EnumName<v1::Strategy>, std::size(kStrategies)> names = {};
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = {kStrategies[i].strategy, kStrategies[i].name};
  }
  return names;
}

}  // namespace

absl::Span<const StrategyTraits> Strategies() { return kStrategies; }

const StrategyTraits* FindStrategy(v1::Strategy strategy) {
  for (const StrategyTraits& each : kStrategies) {
    if (each.strategy == strategy) return &each;
  }
  return nullptr;
}

const StrategyTraits& StrategyOf(const v1::Job& job) {
  const StrategyTraits* const traits = FindStrategy(job.strategy());
  CHECK(traits != nullptr) << "no strategy has the number " << job.strategy();
  return *traits;
}

absl::Span<const EnumName<v1::Strategy>> v1::EnumNames(Strategy) {
  static constexpr auto kNames = NamesOfAll();
  return kNames;
}

}  // namespace paceline
