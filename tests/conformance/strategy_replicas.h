// Replicas that train a job under a strategy, each on a thread, with real
// parameter servers if the strategy has them.
#ifndef PACELINE_TESTS_CONFORMANCE_STRATEGY_REPLICAS_H_
#define PACELINE_TESTS_CONFORMANCE_STRATEGY_REPLICAS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"

namespace paceline {

inline constexpr int64_t kSteps = 50;
inline constexpr int64_t kExamples = 100;
// The last step of an epoch has 4 examples, fewer than there are replicas in
// some tests.
inline constexpr int64_t kGlobalBatch = 12;

// The variables after a job of kSteps steps, as doubles.
using Variables = std::vector<double>;

enum class StrategyKind {
  kAllReduce,
  // The devices sum gradients among themselves and update.
  kDeviceUpdate,
  kCentralStorage,
  kParameterServer,
  // Without shared memory.
  kRemoteParameterServer
};

// The same model for replicas that hold its variables, and for parameter
// servers.
struct Models {
  // A call to a server carries at most `chunk_bytes`, so a server has several
  // chunks. Variables that the optimizer or their constraints need as a whole
  // are not cut.
  explicit Models(const std::string& layers, int chunk_bytes = 512,
                  const std::string& optimizer = "SGD");

  std::string layers;
  int chunk_bytes;
  ModelUnderTest local;
  ModelUnderTest served;
};

// A model with regularizers of kernels and of outputs.
inline constexpr char kRegularizedLayers[] =
    "[Input: {shape: [6, 6, 1]},"
    " Conv2D: {filters: 4, kernel_size: 3, activation: relu,"
    " kernel_regularizer: {L2: {l2: 0.01}}}, Flatten: {},"
    " Dropout: {rate: 0.3},"
    " Dense: {units: 8, activation: tanh,"
    " kernel_regularizer: {L2: {l2: 0.02}},"
    " activity_regularizer: {L2: {l2: 0.02}}},"
    " Dense: {units: 5}]";

// A model with each class of constraints.
inline constexpr char kConstrainedLayers[] =
    "[Input: {shape: [6, 6, 1]},"
    " Conv2D: {filters: 4, kernel_size: 3, activation: tanh,"
    " kernel_constraint: {MaxNorm: {max_value: 0.5, axis: [0, 1, 2]}},"
    " bias_constraint: non_neg}, Flatten: {},"
    " Dense: {units: 8, activation: tanh, kernel_constraint: unit_norm},"
    " Dense: {units: 5, kernel_constraint:"
    " {MinMaxNorm: {min_value: 0.5, max_value: 0.6, rate: 0.5, axis: 1}}}]";

// The device of this name. A CPU device has one thread here: the replicas share
// the cores, and threads of oneDNN spin while they wait for one that has no
// core.
DeviceUnderTest DeviceNamed(const std::string& name);

struct Job {
  const Models& models;
  // The optimizer's name, as in a job.
  std::string optimizer;
  const DeviceUnderTest& device;
  int steps_per_execution = 1;
  // If not null: incremented by the bytes that replicas send to each other.
  std::atomic<int64_t>* sent_bytes = nullptr;
  // The learning rate with which the lease of each step comes. Null: leases
  // have none.
  std::function<double(int64_t step)> learning_rate = nullptr;
  // Whether the variables and their averages change places: forth and back
  // after half of the steps, and once more in the end.
  bool swaps_averages = false;
};

// Returns the variables of each replica at the end. CHECK-fails on invalid
// jobs.
std::vector<Variables> TrainReplicas(const Job& job, StrategyKind kind,
                                     int count);

// The norm of the difference over the norm of `b`.
double RelativeDistance(const Variables& a, const Variables& b);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_STRATEGY_REPLICAS_H_
