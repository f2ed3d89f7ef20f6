// Field tables of a job's cluster, checkpoints and partitioner.
#include <cstdint>
#include <limits>
#include <optional>

#include "common/config/message_fields.h"
#include "common/job/job_fields.h"
#include "common/limits.h"

namespace paceline::v1 {
namespace {

// The default of TensorFlow's MinSizePartitioner, in bytes.
constexpr int64_t kDefaultMinSize = 256 << 10;

// A key that selects a kind of partitioner. Its value is the number of parts or
// bytes of that kind.
Accessors<Partitioner, std::optional<int64_t>> PartitionerKind(
    Partitioner::Kind kind) {
  return {[kind](const Partitioner& partitioner) {
            if (partitioner.kind() != kind) return std::optional<int64_t>();
            return std::optional<int64_t>(kind == Partitioner::KIND_FIXED
                                              ? partitioner.parts()
                                              : partitioner.bytes());
          },
          [kind](Partitioner& partitioner, std::optional<int64_t> number) {
            if (!number && kind != Partitioner::KIND_MIN_SIZE) return;
            partitioner.set_kind(kind);
            if (kind == Partitioner::KIND_FIXED) {
              partitioner.set_parts(*number);
            } else {
              partitioner.set_bytes(number.value_or(kDefaultMinSize));
            }
          }};
}

}  // namespace

const FieldTable<ClusterSize>& FieldsOf(const ClusterSize*) {
  static const auto& table = *new FieldTable<ClusterSize>(
      "cluster", "How many tasks `run` starts; TF_CONFIG overrides it.",
      {Optional(
           "ps", Whole(&ClusterSize::ps, &ClusterSize::set_ps),
           Between(0, limits::kMaxTasks),
           "Parameter servers; if not given, 1 where the strategy has some."),
       Optional("worker", Whole(&ClusterSize::worker, &ClusterSize::set_worker),
                Between(1, limits::kMaxTasks), "Workers.")},
      [] {
        ClusterSize size;
        size.set_worker(1);
        return size;
      });
  return table;
}

const FieldTable<CheckpointPolicy>& FieldsOf(const CheckpointPolicy*) {
  constexpr double kMaxCount = std::numeric_limits<uint32_t>::max();
  static const auto& table = *new FieldTable<CheckpointPolicy>(
      "checkpoint", "When checkpoints are written; `--resume` starts at them.",
      {Optional("every_epochs",
                Whole(&CheckpointPolicy::every_epochs,
                      &CheckpointPolicy::set_every_epochs),
                Between(0, kMaxCount),
                "A checkpoint every so many epochs; 0: not by epochs. If "
                "neither this nor `every_steps` is given, 1."),
       Optional("every_steps",
                Whole(&CheckpointPolicy::every_steps,
                      &CheckpointPolicy::set_every_steps),
                AtLeast(0), "A checkpoint every so many steps; 0: not so."),
       Optional("keep",
                Whole(&CheckpointPolicy::keep, &CheckpointPolicy::set_keep),
                Between(1, kMaxCount), "How many stay on disk.")},
      [] {
        CheckpointPolicy policy;
        policy.set_keep(1);
        return policy;
      });
  return table;
}

const FieldTable<Partitioner>& FieldsOf(const Partitioner*) {
  static const auto& table = *new FieldTable<Partitioner>(
      "partitioner",
      "How variables are cut along axis 0, at most one of the first three, and "
      "how much of them a call to a parameter server carries.",
      {Optional("min_size", PartitionerKind(Partitioner::KIND_MIN_SIZE),
                AtLeast(1),
                "As many parts as leave each at least so many bytes."),
       Excluding(
           {"min_size"},
           Optional("max_size", PartitionerKind(Partitioner::KIND_MAX_SIZE),
                    AtLeast(1),
                    "As few parts as leave each at most so many bytes.")),
       Excluding(
           {"min_size", "max_size"},
           Optional("fixed", PartitionerKind(Partitioner::KIND_FIXED),
                    Between(1, limits::kMaxTasks), "Exactly so many parts.")),
       Optional(
           "chunk_bytes",
           Whole(&Partitioner::chunk_bytes, &Partitioner::set_chunk_bytes),
           Between(limits::kMinChunkBytes, limits::kMaxChunkBytes),
           "Most bytes of a call; a row that is larger has one of its own, "
           "and so has each variable that its optimizer or constraint updates "
           "as a whole.")},
      [] {
        Partitioner partitioner;
        partitioner.set_chunk_bytes(limits::kChunkBytes);
        return partitioner;
      });
  return table;
}

}  // namespace paceline::v1
