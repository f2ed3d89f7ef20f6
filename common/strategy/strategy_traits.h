// The traits of each strategy.
//
// A strategy is a row of the table in strategy_traits.cc, and a file in
// worker/strategy that creates it (strategies.h there). All other code asks for
// traits, never for the strategy's name. Names and meanings are those of
// tf.distribute.
#ifndef PACELINE_COMMON_STRATEGY_STRATEGY_TRAITS_H_
#define PACELINE_COMMON_STRATEGY_STRATEGY_TRAITS_H_

#include "absl/types/span.h"
#include "common/config/codec.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Which tasks hold the variables and the optimizer's slots, and write the
// checkpoints.
enum class VariablePlacement {
  // Each ps task holds a shard, and writes it.
  kParameterServers,
  // Each replica holds all variables; the replica of rank 0 writes them.
  kEachReplica,
  // The replica of rank 0 holds the one copy in host memory, and writes it.
  kFirstReplica
};

// Immutable; thread-safe.
struct StrategyTraits {
  v1::Strategy strategy;
  // The name in a job file.
  const char* name;
  VariablePlacement variables;
  // Whether a job may have more than one worker.
  bool has_several_workers;
  // Whether a worker may have more than one device, each with a replica.
  bool has_several_devices;
  // Whether all replicas always take each training step together, so that the
  // loss of a worker fails the job. If false, the job's `consistency` decides;
  // where replicas do not step together, a lost worker's leases go to others.
  bool replicas_step_together;

  // Whether a cluster has ps tasks. Without ps tasks the chief trains, too.
  constexpr bool has_parameter_servers() const {
    return variables == VariablePlacement::kParameterServers;
  }
  // Whether the workers are connected to each other, to sum gradients.
  constexpr bool workers_are_peers() const {
    return has_several_workers && !has_parameter_servers();
  }
};

// All strategies, in the order in which messages and the reference list them.
absl::Span<const StrategyTraits> Strategies();

// Null if the number, which another process sent, is no strategy.
const StrategyTraits* FindStrategy(v1::Strategy strategy);

// The traits of the job's strategy, which must be set.
const StrategyTraits& StrategyOf(const v1::Job& job);

namespace v1 {

// The codec of enumerations finds this by argument-dependent lookup.
absl::Span<const EnumName<Strategy>> EnumNames(Strategy);

}  // namespace v1
}  // namespace paceline

#endif  // PACELINE_COMMON_STRATEGY_STRATEGY_TRAITS_H_
