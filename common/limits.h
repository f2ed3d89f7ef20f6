// The limits that several folders use, with their units and reasons. A limit
// that concerns a single file is defined there, such as kMaxWindow in
// common/model/window.h.
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
// The config.json of a Keras model; that of NASNetMobile has 2 MB.
inline constexpr int64_t kMaxModelConfigBytes = 32 << 20;
// The weights of a Keras model that are compressed in its file, which Keras
// itself never does: they are kept in memory.
inline constexpr int64_t kMaxCompressedWeightsBytes = int64_t{2} << 30;
// TF_CONFIG. A thousand addresses take about 60 KB.
inline constexpr int64_t kMaxTfConfigBytes = 4 << 20;
// Elements of one tensor: keeps byte sizes far from the range of int64.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;
// Ids of an embedding. Features are float32, which represents whole numbers
// exactly only up to 2^24.
inline constexpr int64_t kMaxEmbeddingIds = int64_t{1} << 24;
// Dimensions of a tensor.
inline constexpr int kMaxRank = 8;
// Passes over the examples of a data set in an epoch.
inline constexpr int64_t kMaxRepeat = 1'000'000;
// Batches that are made ahead of the model.
inline constexpr int64_t kMaxPrefetch = 1'000;
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
// Models around a model: shallow enough for recursion, and for protobuf's
// parser, which refuses messages that nest deeper than 100 levels.
inline constexpr int kMaxModelNesting = 8;
// Layers that one layer reads. YAML aliases make long lists cheap to write.
inline constexpr int kMaxLayerInputs = 1'000;
// Numbers in the states of all metrics of a job together: 512 KiB.
inline constexpr int64_t kMaxMetricState = 65'536;
// Size of a data file after decompression, in bytes.
inline constexpr int64_t kMaxDataFileBytes = int64_t{1} << 40;
// Parts of all variables, 48 bytes each.
inline constexpr int64_t kMaxParts = int64_t{4} << 20;
// Parts of one variable: bounds the cost of a tiny part size in a job.
inline constexpr int64_t kMaxPartsPerVariable = 10'000;
// Size of a checkpoint's manifest, or of the header of a safetensors file; the
// safetensors project has the same limit.
inline constexpr int64_t kMaxHeaderBytes = 100'000'000;

// Nesting of a manifest's JSON, which has 5 levels. Values are copied and
// printed by recursion, so deep nesting would overflow the stack.
inline constexpr int kMaxManifestDepth = 32;

// --- Data from other processes -----------------------------------------------

// Characters of a peer's text that are printed: enough for a host name and a
// sentence or two.
inline constexpr int kMaxPeerTextCharacters = 200;
// Examples of a data set, and of an epoch: keeps positions, and their sums, far
// from the range of int64.
inline constexpr int64_t kMaxExamples = int64_t{1} << 40;
// Steps, pushes and leases in the life of a job: a double represents all of
// them exactly, so JSON can, and sums are far from the range of int64.
inline constexpr int64_t kMaxSteps = int64_t{1} << 53;
// Lease reports in a heartbeat. A worker has two open leases, and repeats its
// reports of finished ones until a heartbeat is answered.
inline constexpr int kMaxLeaseReports = 256;
// Their size in bytes: half of kMaxControlBytes; any two reports fit.
inline constexpr size_t kMaxLeaseReportBytes = 2 << 20;
// Numbers in the states of loss and metrics that each report of a lease may
// have, 4 KiB. If there are more, the metrics' states are sent once per lease.
inline constexpr size_t kMaxReportedState = 512;
// Rows of steps.csv in a heartbeat, 30 bytes each: at four heartbeats per
// second, enough for 40,000 steps per second.
inline constexpr int kMaxStepReports = 10'000;
// Rows of steps.csv in the leader's memory, 24 bytes each: 240 MB.
inline constexpr int64_t kMaxStepRows = 10'000'000;
// Size of a steps.csv that a resume continues, in bytes: rows of several runs,
// 30 bytes each.
inline constexpr int64_t kMaxStepsFileBytes = int64_t{1} << 30;
// Length of the UUID of a GPU, which has 36 characters, and of
// NCCL's unique id, which has 128 bytes.
inline constexpr int kMaxGpuUuidBytes = 256;
inline constexpr int kMaxNcclIdBytes = 1024;
// Sizes that a process reports, in bytes: far from the range of int64.
inline constexpr int64_t kMaxToldBytes = int64_t{1} << 60;
// The longest duration that a process may order another to wait or to keep.
inline constexpr absl::Duration kMaxToldDuration = absl::Hours(24);

// --- Data plane ------------------------------------------------------------

// Size of a bucket in bytes: large enough to amortise a call, small enough to
// overlap communication with backward.
inline constexpr int64_t kBucketBytes = 2 << 20;
// Default size of the variables in one call to a parameter server, in bytes:
// bounds the memory of calls, and still amortises them.
inline constexpr int64_t kChunkBytes = 2 << 20;
// The range that a job may choose. Protobuf's messages end at 2 GiB.
inline constexpr int64_t kMinChunkBytes = 1 << 10;
inline constexpr int64_t kMaxChunkBytes = 1 << 30;
// Largest variable that a parameter server takes as a whole, for an optimizer
// that updates whole variables, in bytes: a call can carry it within its
// deadline.
inline constexpr int64_t kMaxWholeVariableBytes = 256 << 20;
// Multiplications in the update of one variable on a parameter server, by one
// thread. At 20 billion per second on a core with AVX2 this takes 2.5 s, so
// pushes of a few workers at the same time are answered within their deadline.
inline constexpr double kMaxUpdateMultiplications = 5e10;
// Chunks of a shard: bounds the cost of a tiny chunk size in a job. With 2 MiB
// each they are 200 GB.
inline constexpr int64_t kMaxChunks = 100'000;
// Calls to one parameter server that may be under way at a time, and the bytes
// of variables that they carry. A larger chunk is sent alone, so that it can be
// answered within its deadline.
inline constexpr int kCallsPerServer = 4;
inline constexpr int64_t kCallBytesPerServer = 16 << 20;
// Size of one message, in bytes: protobuf's limit.
inline constexpr int kMaxMessageBytes = INT32_MAX;

// Size of a message to or from a parameter server without its blocks, in bytes:
// it has at most a norm per variable, and the states of the metrics.
inline constexpr int64_t kMaxBlockMessageBytes = 1 << 20;
// The same for a block without its values: a few numbers.
inline constexpr int64_t kMaxBlockFieldBytes = 1 << 10;
// Processes of one rank that a shard remembers: the current one, and fenced
// ones, so that it recognises late and repeated messages.
inline constexpr int kMaxKnownProcesses = 16;

// --- Access control ----------------------------------------------------------

// Characters of a job's secret: enough that nobody guesses it, and at most a
// long line.
inline constexpr size_t kMinSecretBytes = 16;
inline constexpr size_t kMaxSecretBytes = 4 << 10;
// Size of a request without a job and blocks, in bytes. One with the addresses
// of 10,000 tasks has 0.6 MB.
inline constexpr size_t kMaxControlBytes = 4 << 20;
// Size of a request with a job, in bytes. Keras objects grow when they become
// protobufs.
inline constexpr size_t kMaxJobMessageBytes = 64 << 20;
// Size of a call's metadata, in bytes. A header has some 200.
inline constexpr int kMaxMetadataBytes = 16 << 10;
// Open calls per connection; more wait at the caller. Bounds the memory of
// answers that a caller does not read to this many chunks.
inline constexpr int kMaxCallsPerConnection = 32;
// Open calls of a process that has proven its identity. It has one connection
// to each task, or two for a moment.
inline constexpr int kMaxCallsPerCaller = 2 * kMaxCallsPerConnection;
// Open calls per address, if no proof is required: several tasks may share an
// address.
inline constexpr int kMaxCallsPerAddress = 4'096;
// Connections whose sequence numbers are remembered. The oldest are forgotten.
inline constexpr size_t kMaxProvenConnections = 100'000;
// Memory that gRPC may use for requests, in bytes: at a leader; at a parameter
// server in addition to that for its workers' chunks.
inline constexpr size_t kServerMemoryBytes = 256 << 20;

// --- Time ------------------------------------------------------------------

// Time between two heartbeats of a member; also the interval of the progress
// bar's updates.
inline constexpr absl::Duration kHeartbeatInterval = absl::Milliseconds(250);
// After this silence leader and member take each other for lost. Including the
// time to notice it and to end the other tasks, a job ends within 15 s.
inline constexpr absl::Duration kHeartbeatTimeout = absl::Seconds(8);
// A task that has a lease and sends heartbeats, but finishes no piece of work
// for this long, is stalled.
inline constexpr absl::Duration kStallTimeout = absl::Seconds(60);
// Deadline of a call to a parameter server.
inline constexpr absl::Duration kPsTimeout = absl::Seconds(10);
// Time within which the workers of a job must connect to each other, and the
// leader to the parameter servers.
inline constexpr absl::Duration kConnectTimeout = absl::Seconds(30);
// Timeout of one exchange between two workers. This is a last resort: the
// leader sees by heartbeats and finished work which worker is stalled.
inline constexpr absl::Duration kCollectiveTimeout = absl::Hours(1);
// Time from a snapshot until its file is on disk.
inline constexpr absl::Duration kCheckpointTimeout = absl::Minutes(10);
// How long an evaluator waits for the next checkpoint.
inline constexpr absl::Duration kNextCheckpointTimeout = absl::Hours(24);
// Time from the end of a job until the evaluator of a local cluster has
// evaluated the last checkpoint.
inline constexpr absl::Duration kEvaluatorTimeout = absl::Minutes(30);
// Time from the start of a process until all tasks of the job are ready.
inline constexpr absl::Duration kStartTimeout = absl::Minutes(5);
// How long the leader keeps a call open that waits for a lease.
inline constexpr absl::Duration kLongPoll = absl::Seconds(2);
// Time from the end of a job until its tasks must have left; then they are
// killed.
inline constexpr absl::Duration kShutdownTimeout = absl::Seconds(5);
// Time from when all tasks have left or are lost until their processes must
// have ended; then they are killed. Part of the 15 s in which a job ends.
inline constexpr absl::Duration kExitTimeout = absl::Seconds(2);
// Time from a connection until its first bytes; then it is closed.
inline constexpr absl::Duration kGreetingTimeout = absl::Seconds(10);
// After this time without an open call a connection is closed. Channels connect
// again when they need to.
inline constexpr absl::Duration kIdleTimeout = absl::Seconds(60);
// Longest sleep on a futex event in shared memory; a lost wake-up delays its
// event by at most this.
inline constexpr absl::Duration kFutexSleep = absl::Seconds(1);
// gRPC: time between attempts to connect, and to resolve a name.
inline constexpr absl::Duration kReconnectBackoff = absl::Seconds(1);
// gRPC: time in which a name must resolve. More than the 10 s after which the
// third name server is asked, if two do not answer.
inline constexpr absl::Duration kResolveTimeout = absl::Seconds(12);

}  // namespace paceline::limits

#endif  // PACELINE_COMMON_LIMITS_H_
