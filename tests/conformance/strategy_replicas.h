// Replicas that train one job under a strategy, each on a thread, with real
// parameter servers where there are some.
#ifndef PACELINE_TESTS_CONFORMANCE_STRATEGY_REPLICAS_H_
#define PACELINE_TESTS_CONFORMANCE_STRATEGY_REPLICAS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"

namespace paceline {

inline constexpr int64_t kSteps = 50;
inline constexpr int64_t kExamples = 100;
// The last step of an epoch has 4 examples: fewer than some have replicas.
inline constexpr int64_t kGlobalBatch = 12;

// The last variables of a job of kSteps steps, as doubles.
using Variables = std::vector<double>;

enum class StrategyKind {
  kAllReduce,
  // The devices update, after they have summed up among themselves.
  kDeviceUpdate,
  kCentralStorage,
  kParameterServer,
  // Without shared memory.
  kRemoteParameterServer
};

// The same model for replicas that hold its variables and for servers that do.
struct Models {
  // Calls to servers carry at most `chunk_bytes`, a part of what they hold.
  // Variables that the optimizer needs whole are not cut.
  explicit Models(const std::string& layers, int chunk_bytes = 512,
                  const std::string& optimizer = "SGD");

  std::string layers;
  int chunk_bytes;
  ModelUnderTest local;
  ModelUnderTest served;
};

struct Job {
  const Models& models;
  // As a job has it.
  std::string optimizer;
  const DeviceUnderTest& device;
  int steps_per_execution = 1;
  // Not null: what replicas send each other is added here.
  std::atomic<int64_t>* sent_bytes = nullptr;
};

// The variables of each replica at the end. CHECK-fails where a job is wrong.
std::vector<Variables> TrainReplicas(const Job& job, StrategyKind kind,
                                     int count);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_STRATEGY_REPLICAS_H_
