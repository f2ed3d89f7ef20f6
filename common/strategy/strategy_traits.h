// Every strategy, by what others need to know of it.
//
// A strategy is a row of the table in strategy_traits.cc, and a file of
// worker/strategy that makes it (strategies.h there). Nobody else asks for its
// name. The names and their meaning are those of tf.distribute.
#ifndef PACELINE_COMMON_STRATEGY_STRATEGY_TRAITS_H_
#define PACELINE_COMMON_STRATEGY_STRATEGY_TRAITS_H_

#include "absl/types/span.h"
#include "common/config/codec.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Who holds the variables of the training, with the optimizer's slots, and
// writes their checkpoints.
enum class VariablePlacement {
  // The ps tasks, a shard each; each writes its own.
  kParameterServers,
  // Each replica, all of them; that of rank 0 writes.
  kEachReplica,
  // That of rank 0 for all, in host memory; it writes.
  kFirstReplica
};

// Immutable; thread-safe.
struct StrategyTraits {
  v1::Strategy strategy;
  // As a job writes it.
  const char* name;
  VariablePlacement variables;
  // Whether a job may have more than one worker.
  bool has_several_workers;
  // Whether a worker may have more than one device, each with a replica.
  bool has_several_devices;
  // Whether all replicas take each step of training together, so that the loss
  // of a worker fails the job. Else the job's `consistency` says; where they do
  // not, a worker's leases go to the others when it is lost.
  bool replicas_step_together;

  // Whether a cluster has ps tasks. Where it has none its chief trains, too.
  constexpr bool has_parameter_servers() const {
    return variables == VariablePlacement::kParameterServers;
  }
  // Whether the workers are connected with each other, to sum gradients up.
  constexpr bool workers_are_peers() const {
    return has_several_workers && !has_parameter_servers();
  }
};

// All, in the order in which people are told of them.
absl::Span<const StrategyTraits> Strategies();

// Null: another process has sent a number that is no strategy.
const StrategyTraits* FindStrategy(v1::Strategy strategy);

// That of a job, which has one.
const StrategyTraits& StrategyOf(const v1::Job& job);

namespace v1 {

// Found by the codec of enumerations.
absl::Span<const EnumName<Strategy>> EnumNames(Strategy);

}  // namespace v1
}  // namespace paceline

#endif  // PACELINE_COMMON_STRATEGY_STRATEGY_TRAITS_H_
