// Every limit of the project, with its unit and its reason.
#ifndef PACELINE_COMMON_LIMITS_H_
#define PACELINE_COMMON_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace paceline::limits {

// --- Input -----------------------------------------------------------------

// A job file. The largest sensible job describes a few thousand layers.
inline constexpr int64_t kMaxJobBytes = 4 << 20;
// Nesting of a job file. Keras' deepest objects nest about ten levels.
inline constexpr int kMaxNesting = 64;
// Values in a job file after its aliases are expanded: stops alias bombs.
inline constexpr int64_t kMaxValues = 1'000'000;
// TF_CONFIG. A thousand addresses take about 60 KB.
inline constexpr int64_t kMaxTfConfigBytes = 4 << 20;
// Elements of one tensor: keeps byte sizes far from the range of int64.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;
// Ids of an embedding: features are float32, which does not hold every larger
// whole number.
inline constexpr int64_t kMaxEmbeddingIds = int64_t{1} << 24;
// Dimensions of a tensor.
inline constexpr int kMaxRank = 8;
// Examples in a batch.
inline constexpr int64_t kMaxBatchSize = 1 << 20;
// Tasks of one type.
inline constexpr int kMaxTasks = 10'000;
// Steps that are launched at once. The device has a buffer for the batch of
// each.
inline constexpr int kMaxStepsPerExecution = 1'000;
// Devices of one worker.
inline constexpr int kMaxDevices = 64;
// Layers of a model.
inline constexpr int kMaxLayers = 10'000;
// Layers that one layer reads. Aliases make long lists cheap to write.
inline constexpr int kMaxLayerInputs = 1'000;
// Numbers in the states of all metrics of a job together: 512 KiB.
inline constexpr int64_t kMaxMetricState = 65'536;
// Bytes of a data file after decompression.
inline constexpr int64_t kMaxDataFileBytes = int64_t{1} << 40;
// Parts of all variables, 48 bytes each.
inline constexpr int64_t kMaxParts = int64_t{4} << 20;
// Parts of one variable: bounds what a tiny part size in a job can ask for.
inline constexpr int64_t kMaxPartsPerVariable = 10'000;
// A checkpoint's manifest or the header of a safetensors file; the reader of
// the safetensors project has the same bound.
inline constexpr int64_t kMaxHeaderBytes = 100'000'000;

// Levels of a manifest's JSON, which has 5: values are copied and printed by
// recursion, so many more would overflow the stack.
inline constexpr int kMaxManifestDepth = 32;

// --- What another process says -----------------------------------------------

// Characters of its texts that are printed: a host name and a sentence or two.
inline constexpr int kMaxPeerTextCharacters = 200;
// Examples of a data set, and of an epoch: keeps positions, and their sums, far
// from the range of int64. An array has no more elements.
inline constexpr int64_t kMaxExamples = int64_t{1} << 40;
// Steps, pushes and leases in the life of a job: as many as a double counts, so
// that JSON has them, and far from the range of int64.
inline constexpr int64_t kMaxSteps = int64_t{1} << 53;
// Reports of leases in a heartbeat. A worker holds two leases, and repeats what
// it reported of finished ones until a heartbeat is answered.
inline constexpr int kMaxLeaseReports = 256;
// Bytes of them: half of kMaxControlBytes, and room for any two.
inline constexpr size_t kMaxLeaseReportBytes = 2 << 20;
// Numbers of the loss and the metrics in every report of a lease, 4 KiB; if
// there are more, the metrics' come once a lease.
inline constexpr size_t kMaxReportedState = 512;
// Rows of steps.csv in a heartbeat, 30 bytes each: at four heartbeats a second,
// 40,000 steps a second.
inline constexpr int kMaxStepReports = 10'000;
// Rows of steps.csv, 24 bytes each in the leader's memory: 240 MB.
inline constexpr int64_t kMaxStepRows = 10'000'000;
// Bytes of a steps.csv that a resume continues: rows of several runs, 30 each.
inline constexpr int64_t kMaxStepsFileBytes = int64_t{1} << 30;
// Bytes of the UUID of a worker's GPU, which has 36 characters, and of NCCL's
// unique id of a group of GPUs, which has 128 bytes.
inline constexpr int kMaxGpuUuidBytes = 256;
inline constexpr int kMaxNcclIdBytes = 1024;
// Bytes of memory or of a file that a process tells of: far from int64's range.
inline constexpr int64_t kMaxToldBytes = int64_t{1} << 60;
// The longest time that a process tells another to wait or to keep to.
inline constexpr absl::Duration kMaxToldDuration = absl::Hours(24);

// --- Data plane ------------------------------------------------------------

// Bytes of a bucket: large enough to amortise a call, small enough to overlap.
inline constexpr int64_t kBucketBytes = 4 << 20;
// Bytes of variables in one call to a parameter server, unless the job says
// otherwise: bounds what calls take in memory, and still amortises them.
inline constexpr int64_t kChunkBytes = 8 << 20;
// The least and most a job can ask for. Protobuf's messages end at 2 GiB.
inline constexpr int64_t kMinChunkBytes = 1 << 10;
inline constexpr int64_t kMaxChunkBytes = 1 << 30;
// Bytes of a variable that a parameter server takes whole, as an optimizer
// wants it that updates whole variables: a call carries it within its deadline.
inline constexpr int64_t kMaxWholeVariableBytes = 256 << 20;
// Multiplications of an update of a variable on a parameter server, by one
// thread. At the 20 billion a second of a core with AVX2 it takes 2.5 s, so
// that the pushes of a few workers that meet are answered within their
// deadline.
inline constexpr double kMaxUpdateMultiplications = 5e10;
// Chunks of a shard: bounds what a tiny size in a job can ask for. 8 MiB each
// make 800 GB.
inline constexpr int64_t kMaxChunks = 100'000;
// Calls to one parameter server that are under way at a time.
inline constexpr int kCallsPerServer = 2;
// Bytes of one message: protobuf's own bound.
inline constexpr int kMaxMessageBytes = INT32_MAX;

// Bytes of a message to or from a parameter server without its blocks: it has
// at most a norm of each variable, and sums of the metrics.
inline constexpr int64_t kMaxBlockMessageBytes = 1 << 20;
// The same for a block without its values: a few numbers.
inline constexpr int64_t kMaxBlockFieldBytes = 1 << 10;
// Processes of one rank that a shard remembers: the one that holds the place,
// and those shut out before, so that late and repeated messages are known.
inline constexpr int kMaxKnownProcesses = 16;

// --- Who may call ----------------------------------------------------------

// Characters of a job's secret: too many to be guessed, and one line.
inline constexpr size_t kMinSecretBytes = 16;
inline constexpr size_t kMaxSecretBytes = 4 << 10;
// A request that carries neither a job nor blocks. That with the addresses of
// 10,000 tasks takes 0.6 MB.
inline constexpr size_t kMaxControlBytes = 4 << 20;
// A request that carries a job. Objects of Keras grow as they become protobufs.
inline constexpr size_t kMaxJobMessageBytes = 64 << 20;
// The metadata of a call. A header takes some 200 bytes.
inline constexpr int kMaxMetadataBytes = 16 << 10;
// Open calls over a connection; more wait at the caller. What answers take
// while nobody reads them is bounded by so many chunks.
inline constexpr int kMaxCallsPerConnection = 32;
// Open calls of a process that has proven who it is. It has one connection to
// each task, or two for a moment.
inline constexpr int kMaxCallsPerCaller = 2 * kMaxCallsPerConnection;
// Open calls from an address, where no proof is asked for: tasks may share it.
inline constexpr int kMaxCallsPerAddress = 4'096;
// Connections whose proven calls are remembered. The oldest are forgotten.
inline constexpr size_t kMaxProvenConnections = 100'000;
// Bytes that gRPC may hold of requests at a leader, or at a parameter server
// beside those of its workers' chunks.
inline constexpr size_t kServerMemoryBytes = 256 << 20;

// --- Time ------------------------------------------------------------------

// Between two heartbeats of a member; also the pace of the progress bar.
inline constexpr absl::Duration kHeartbeatInterval = absl::Milliseconds(250);
// Silence after which leader and member take each other for dead. With the time
// to notice and to end the others, a job ends within 15 s.
inline constexpr absl::Duration kHeartbeatTimeout = absl::Seconds(8);
// A task that holds a lease, sends heartbeats and finishes no piece of work for
// this long is stuck.
inline constexpr absl::Duration kStallTimeout = absl::Seconds(60);
// One call to a parameter server.
inline constexpr absl::Duration kPsTimeout = absl::Seconds(10);
// Until the workers of a job are connected with each other, and the leader with
// the parameter servers.
inline constexpr absl::Duration kConnectTimeout = absl::Seconds(30);
// One exchange between two workers. The last resort: the leader, by heartbeats
// and pieces of work, tells one that is stuck from one whose step takes long.
inline constexpr absl::Duration kCollectiveTimeout = absl::Hours(1);
// From a snapshot until its file is on disk.
inline constexpr absl::Duration kCheckpointTimeout = absl::Minutes(10);
// From one checkpoint to the next, for an evaluator.
inline constexpr absl::Duration kNextCheckpointTimeout = absl::Hours(24);
// From the end of a job until the evaluator of a local cluster has evaluated
// the last checkpoint.
inline constexpr absl::Duration kEvaluatorTimeout = absl::Minutes(30);
// From the start of a process until all tasks of the job are there.
inline constexpr absl::Duration kStartTimeout = absl::Minutes(5);
// How long the leader holds a call that waits for work.
inline constexpr absl::Duration kLongPoll = absl::Seconds(2);
// From the end of a job until its tasks have left, before they are killed.
inline constexpr absl::Duration kShutdownTimeout = absl::Seconds(5);
// From when its tasks have left or are lost until their processes have ended,
// before they are killed: part of the 15 s in which a job ends.
inline constexpr absl::Duration kExitTimeout = absl::Seconds(2);
// From a connection until its first words, before it is closed.
inline constexpr absl::Duration kGreetingTimeout = absl::Seconds(10);
// Without an open call, before a connection is closed. Channels connect again
// when they have something to say.
inline constexpr absl::Duration kIdleTimeout = absl::Seconds(60);
// One sleep for a signal in shared memory: what a signal that is lost costs.
inline constexpr absl::Duration kFutexSleep = absl::Seconds(1);
// gRPC: between attempts to connect, and to resolve a name.
inline constexpr absl::Duration kReconnectBackoff = absl::Seconds(1);

}  // namespace paceline::limits

#endif  // PACELINE_COMMON_LIMITS_H_
