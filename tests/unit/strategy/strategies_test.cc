#include "worker/strategy/strategies.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/optimizer/make_optimizer.h"
#include "common/strategy/strategy_traits.h"
#include "gtest/gtest.h"
#include "tests/test_identity.h"
#include "worker/collective/memory_transport.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

constexpr char kJob[] = R"(
model: {layers: [Input: {shape: [3]}, Dense: {units: 2}]}
loss: mse
optimizer: {SGD: {learning_rate: 0.5}}
data: {train: {idx: {features: f, labels: l}}}
batch_size_per_replica: 4
strategy: )";

// One replica of a job, which holds the variables if they are with replicas.
class LoneReplica {
 public:
  explicit LoneReplica(const StrategyTraits& strategy)
      : job_(*ReadJob(absl::StrCat(kJob, strategy.name), "job.yaml", {},
                      {.check_files = false})),
        model_(*MakeJobModel(job_)),
        plan_(*ShardPlan::Make(model_.graph.variables, 1, job_.partitioner(),
                               sizeof(float))),
        optimizer_(*MakeOptimizer(job_.optimizer())),
        stream_(*device_.CreateStream()),
        state_(*device_.CreateState(Spec())),
        variables_(plan_, *optimizer_, *state_),
        transport_(group_.MakeTransport(0)) {
    *registration_.mutable_job() = job_;
  }

  absl::StatusOr<std::unique_ptr<Strategy>> Make() {
    return MakeStrategy({.registration = registration_,
                         .start = start_,
                         .worker = v1::WorkerId(),
                         .caller = TestCaller(),
                         .plan = plan_,
                         .optimizer = *optimizer_,
                         .state = *state_,
                         .stream = *stream_,
                         .variables = &variables_,
                         .transport = transport_.get(),
                         .on_waiting = [](const std::string&) {}});
  }

 private:
  ProgramSpec Spec() const {
    ProgramSpec spec;
    spec.graph = &model_.graph;
    spec.bucket_layout = &plan_.layout();
    spec.outputs = {{.loss = model_.objectives[0].loss.get()}};
    return spec;
  }

  const v1::Job job_;
  const JobModel model_;
  const ShardPlan plan_;
  const std::unique_ptr<const Optimizer> optimizer_;
  ReferenceDevice<float> device_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<ModelState> state_;
  LocalVariables variables_;
  MemoryGroup group_{1, absl::Seconds(30)};
  const std::unique_ptr<Transport> transport_;
  v1::RegisterResponse registration_;
  const v1::AwaitStartResponse start_;
};

TEST(Strategies, AWorkerMakesEach) {
  for (const StrategyTraits& traits : Strategies()) {
    LoneReplica replica(traits);
    const auto strategy = replica.Make();
    if (traits.has_parameter_servers()) {
      // The leader has named none.
      EXPECT_EQ(strategy.status(),
                absl::InternalError("the leader names 0 parameter servers, "
                                    "where its job has 1"));
      continue;
    }
    ASSERT_TRUE(strategy.ok()) << traits.name << ": " << strategy.status();
    EXPECT_TRUE((*strategy)->PullVariables().ok()) << traits.name;
  }
}

}  // namespace
}  // namespace paceline
