// What a trainer reports is the same whether the host updates after each step
// or the device does, several steps at once.
#include "worker/trainer.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/model/metric_layout.h"
#include "common/operations/iota.h"
#include "common/optimizer/adam.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"
#include "worker/collective/memory_transport.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/device_update.h"
#include "worker/strategy/local_variables.h"

namespace paceline {
namespace {

constexpr int64_t kBatchSize = 4;
constexpr uint64_t kEvaluationLease = 3;

// Examples of float32 features and class ids.
class ExamplesSource : public DataSource {
 public:
  explicit ExamplesSource(const ModelUnderTest& model, int64_t count)
      : spec_(
            {{{"", name_, ElementType::kFloat32, model.graph().input_shape(0)}},
             {{"", name_, ElementType::kFloat32, {}}}}) {
    const Examples examples = model.SomeExamples(count);
    features_.assign(examples.features[0].begin(), examples.features[0].end());
    labels_.assign(examples.labels[0].begin(), examples.labels[0].end());
  }

  void Spoil(int64_t example) {
    features_[FeatureSize() * example] =
        std::numeric_limits<float>::quiet_NaN();
  }

  const std::string& name() const override { return name_; }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override {
    return static_cast<int64_t>(labels_.size());
  }
  absl::Status CheckClassIds(size_t, const ClassIds&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<Reader>(*this);
  }

 private:
  class Reader : public ExampleReader {
   public:
    explicit Reader(const ExamplesSource& source) : source_(source) {}

    absl::StatusOr<const Example*> Read(int64_t index) override {
      const int64_t size = source_.FeatureSize();
      example_.features = {Values(source_.features_, size * index, size)};
      example_.labels = {Values(source_.labels_, index, 1)};
      return &example_;
    }

   private:
    static Elements Values(const std::vector<float>& values, int64_t first,
                           int64_t count) {
      return {ElementType::kFloat32,
              reinterpret_cast<const std::byte*>(&values[first]), count};
    }

    const ExamplesSource& source_;
    Example example_;
  };

  int64_t FeatureSize() const { return NumElements(spec_.features[0].shape); }

  const std::string name_ = "examples";
  const ExampleSpec spec_;
  std::vector<float> features_;
  std::vector<float> labels_;
};

class Reports : public ProgressSink {
 public:
  void Worked() override {}
  void Report(const v1::LeaseReport& report, bool complete) override {
    (complete ? at_ends : between).push_back(report);
  }
  void ReportStep(int64_t step, double total, double weight) override {
    steps.push_back(step);
    totals.push_back(total);
    weights.push_back(weight);
  }

  std::vector<v1::LeaseReport> at_ends;
  std::vector<v1::LeaseReport> between;
  std::vector<int64_t> steps;
  std::vector<double> totals;
  std::vector<double> weights;
  // The most states of a lease's sums that a push carried.
  int most_pushed = 0;
  // The trainer's status at the end.
  absl::Status end;
};

std::unique_ptr<Device> MakeDeviceNamed(const std::string& name) {
  for (const DeviceUnderTest& device : DevicesUnderTest()) {
    if (device.name == name) return device.make();
  }
  return nullptr;
}

struct RunOptions {
  std::string device;
  bool log_steps = false;
  int steps_per_execution = 1;
  // With several replicas: the id of their devices' group, and the rank in it.
  std::string nccl_id = {};
  int rank = 0;
  int replicas = 1;
  // The group whose status the strategy reads instead of that group's.
  const DeviceGroup* told_group = nullptr;
  // Replace the model's metrics, unless empty.
  absl::Span<const std::unique_ptr<const Metric>> metrics = {};
  // Whether a step is applied by the end of the next one.
  bool applies_late = false;
  // Training steps after which the worker is to leave; 0: never.
  int leaves_after = 0;
};

// So many states that only the last report of a lease has them.
constexpr int kLarge = static_cast<int>(limits::kMaxReportedState);

// Adds i to number i in each batch.
class LargeMetric : public Metric {
 public:
  LargeMetric() { name = "large"; }

  absl::string_view class_name() const override { return "LargeMetric"; }
  bool has_sparse_labels() const override { return true; }
  absl::Status CheckOutput(const Shape& /*output*/) const override {
    return absl::OkStatus();
  }
  bool is_mean() const override { return false; }
  int64_t state_size() const override { return kLarge; }
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& /*labels*/,
      const std::optional<op::Tensor>& /*weights*/) const override {
    return op::Iota(output.function(), state_size(), output.data_type());
  }
};

// Records the most states of a lease that are pushed. With `applies_late`,
// reports that each step is applied at the end of the next one.
class NotingStrategy : public Strategy {
 public:
  NotingStrategy(Strategy& to, bool applies_late)
      : to_(to), applies_late_(applies_late) {}

  absl::Status PullVariables() override { return to_.PullVariables(); }
  absl::Status BeginLease(std::optional<double> learning_rate) override {
    return to_.BeginLease(learning_rate);
  }
  void BeginStep(const v1::Progress& position, bool ends_lease) override {
    ends_lease_ = ends_lease;
    late_step_ = std::exchange(unapplied_, std::nullopt);
    to_.BeginStep(position, ends_lease);
  }
  absl::Status GradientsReady(int bucket) override {
    return to_.GradientsReady(bucket);
  }
  void BucketFinal(int bucket) override { to_.BucketFinal(bucket); }
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override {
    for (const v1::LeaseReport* report :
         {&progress.lease(), &progress.previous()}) {
      most_numbers_ = std::max(most_numbers_, report->sums().states_size());
    }
    ++step_count_;
    auto step = to_.EndStep(progress);
    if (!step.ok() || !applies_late_ || ends_lease_) return step;
    unapplied_ = *step;
    return kNotAppliedYet;
  }
  std::optional<int64_t> late_step() const override { return late_step_; }

  int most_numbers() const { return most_numbers_; }
  int step_count() const { return step_count_; }

 private:
  Strategy& to_;
  const bool applies_late_;
  bool ends_lease_ = false;
  std::optional<int64_t> unapplied_;
  std::optional<int64_t> late_step_;
  int most_numbers_ = 0;
  int step_count_ = 0;
};

// A group that loses a rank: status() is OK only for the first `questions`
// calls.
class LosingGroup : public DeviceGroup {
 public:
  explicit LosingGroup(int questions) : questions_(questions) {}
  void Abort(const absl::Status& /*reason*/) override {}
  absl::Status status() const override {
    return questions_-- > 0 ? absl::OkStatus()
                            : absl::UnavailableError("a rank is lost");
  }

 private:
  mutable int questions_;
};

class TrainerTest : public ::testing::Test {
 protected:
  explicit TrainerTest(
      const std::string& layers =
          "[Input: {shape: [6]}, Dense: {units: 7, activation: relu},"
          " BatchNormalization: {}, Dense: {units: 5}]")
      : model_({.layers = *ReadYaml(layers, "model", limits::kMaxJobBytes),
                .loss = *ReadYaml(
                    "{SparseCategoricalCrossentropy: {from_logits: true}}",
                    "loss", limits::kMaxJobBytes),
                .metrics = Value::List{"accuracy"}}),
        source_(model_, 170) {}

  static v1::Lease MakeLease(uint64_t id, v1::Phase phase, uint64_t begin,
                             uint64_t end) {
    v1::Lease lease;
    lease.set_id(id);
    lease.set_phase(phase);
    lease.set_begin(begin);
    lease.set_end(end);
    return lease;
  }

  // Two leases, the second with a partial batch, an evaluation, and one more.
  std::unique_ptr<BatchPipeline> MakePipeline(const RunOptions& run) const {
    PipelineOptions options;
    for (const v1::Phase phase : {v1::PHASE_TRAIN, v1::PHASE_VALIDATION}) {
      options.phases[phase] = {.source = &source_,
                               .order = {.count = source_.example_count()},
                               .step_size = kBatchSize,
                               .rank = run.rank,
                               .replica_count = run.replicas};
    }
    options.model = {{{"input", model_.graph().input_shape(0)}},
                     {{"output", {}, {.count = 5}}}};
    std::deque<v1::Lease> leases = {
        MakeLease(1, v1::PHASE_TRAIN, 0, 160),
        MakeLease(2, v1::PHASE_TRAIN, 160, 170),
        MakeLease(kEvaluationLease, v1::PHASE_VALIDATION, 0, 30),
        MakeLease(4, v1::PHASE_TRAIN, 0, 20)};
    return *BatchPipeline::Create(
        options,
        [leases]() mutable -> absl::StatusOr<std::optional<v1::Lease>> {
          if (leases.empty()) return std::nullopt;
          v1::Lease lease = leases.front();
          leases.pop_front();
          return lease;
        });
  }

  Reports Train(const RunOptions& run) {
    const std::unique_ptr<Device> device = MakeDeviceNamed(run.device);
    const Adam adam;
    ProgramSpec spec = model_.Spec(Mode::kTrain, kBatchSize);
    if (device->CanUpdate()) spec.optimizer = &adam;
    spec.steps_per_execution = run.steps_per_execution;
    if (!run.metrics.empty()) spec.outputs[0].metrics = run.metrics;
    std::unique_ptr<DeviceGroup> devices;
    if (!run.nccl_id.empty()) {
      devices = *device->JoinGroup({.nccl_id = run.nccl_id,
                                    .rank = run.rank,
                                    .world_size = run.replicas,
                                    .timeout = absl::Seconds(60)});
    }
    spec.group = devices.get();
    const std::unique_ptr<Stream> stream = *device->CreateStream();
    const std::unique_ptr<ModelState> state = *device->CreateState(spec);
    ProgramCache programs(spec, *device, *state);
    LocalVariables variables(model_.plan(), adam, *state);
    FillFromSeed(/*seed=*/7, model_.graph().variables, variables);
    EXPECT_TRUE(variables.Upload(*stream).ok());
    MemoryGroup group(1, absl::Seconds(10));
    const std::unique_ptr<Transport> transport = group.MakeTransport(0);
    std::unique_ptr<Strategy> strategy;
    if (spec.optimizer != nullptr) {
      strategy = std::make_unique<DeviceUpdateStrategy>(
          variables,
          run.told_group != nullptr ? run.told_group : devices.get());
    } else {
      AllReduceOptions options;
      options.on_waiting = [](const std::string&) {};
      strategy = std::make_unique<AllReduceStrategy>(
          options, *transport, model_.plan(), variables, *state, *stream);
    }
    const std::unique_ptr<BatchPipeline> pipeline = MakePipeline(run);
    Reports reports;
    TrainerParts parts;
    parts.pipeline = pipeline.get();
    parts.programs = &programs;
    parts.state = state.get();
    parts.stream = stream.get();
    NotingStrategy noting(*strategy, run.applies_late);
    parts.strategy = &noting;
    parts.progress = &reports;
    parts.bucket_count =
        static_cast<int>(model_.layout().updated_buckets().size());
    parts.steps_per_execution = run.steps_per_execution;
    parts.leaves = [&] {
      return run.leaves_after > 0 && noting.step_count() >= run.leaves_after;
    };
    reports.end =
        Trainer(parts, MetricLayout(spec.outputs), run.log_steps).Run();
    EXPECT_EQ(reports.end.ok(), run.told_group == nullptr) << reports.end;
    reports.most_pushed = noting.most_numbers();
    return reports;
  }

  static void ExpectSame(const std::vector<v1::LeaseReport>& actual,
                         const std::vector<v1::LeaseReport>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(actual[i].lease_id(), expected[i].lease_id());
      EXPECT_EQ(actual[i].examples(), expected[i].examples());
      EXPECT_EQ(actual[i].steps(), expected[i].steps());
      ASSERT_EQ(actual[i].sums().states_size(), 4);
      for (int value = 0; value < 4; ++value) {
        EXPECT_NEAR(actual[i].sums().states(value),
                    expected[i].sums().states(value),
                    1e-4 * expected[i].sums().states(value));
      }
    }
  }

  const ModelUnderTest model_;
  ExamplesSource source_;
};

// The leader counts each reported step as done.
TEST_F(TrainerTest, ReportsAStepWhenItIsApplied) {
  const Reports expected = Train({.device = "cpu", .log_steps = true});
  const Reports late =
      Train({.device = "cpu", .log_steps = true, .applies_late = true});
  ExpectSame(late.at_ends, expected.at_ends);
  std::vector<v1::LeaseReport> between;
  for (size_t i = 0; i + 1 < expected.between.size(); ++i) {
    const v1::LeaseReport& report = expected.between[i];
    // In training the report of a lease's last step replaces that of the one
    // before.
    const bool is_replaced =
        report.lease_id() != kEvaluationLease &&
        expected.between[i + 1].lease_id() != report.lease_id();
    if (!is_replaced) between.push_back(report);
  }
  ASSERT_GT(between.size(), 30u);
  ExpectSame(late.between, between);
  EXPECT_EQ(late.steps, expected.steps);
  EXPECT_EQ(late.totals, expected.totals);
  EXPECT_EQ(late.weights, expected.weights);
}

// As the last step of a lease, so that nothing is under way and all sums are
// known.
TEST_F(TrainerTest, AWorkerThatLeavesEndsWithAWholeStep) {
  std::vector<std::unique_ptr<const Metric>> metrics;
  metrics.push_back(std::make_unique<LargeMetric>());
  for (const bool applies_late : {false, true}) {
    SCOPED_TRACE(applies_late);
    RunOptions run = {.device = "cpu", .applies_late = applies_late};
    run.metrics = metrics;
    run.leaves_after = 5;
    const Reports left = Train(run);
    ASSERT_EQ(left.at_ends.size(), 1u);
    EXPECT_EQ(left.at_ends[0].lease_id(), 1u);
    EXPECT_EQ(left.at_ends[0].steps(), 6u);
    EXPECT_EQ(left.at_ends[0].examples(), 6u * kBatchSize);
    EXPECT_EQ(left.at_ends[0].sums().states_size(), kLarge + 2);
    EXPECT_EQ(left.between.back().steps(), applies_late ? 4u : 5u);
  }
}

TEST_F(TrainerTest, AWorkerThatLeavesBetweenLeasesTakesNoOther) {
  for (const int steps : {40, 43}) {
    const Reports left = Train({.device = "cpu", .leaves_after = steps});
    ASSERT_EQ(left.at_ends.size(), steps == 40 ? 1u : 2u);
    EXPECT_EQ(left.at_ends.back().steps(), steps == 40 ? 40u : 3u);
  }
}

TEST_F(TrainerTest, LeasesEndWithTheSameSums) {
  const Reports expected = Train({"cpu"});
  ASSERT_EQ(expected.at_ends.size(), 4u);
  EXPECT_EQ(expected.at_ends[1].examples(), 10u);
  EXPECT_EQ(expected.at_ends[1].steps(), 3u);
  for (const int steps_per_execution : {1, 3, 4, 50}) {
    SCOPED_TRACE(steps_per_execution);
    ExpectSame(Train({"cuda_on_fake", false, steps_per_execution}).at_ends,
               expected.at_ends);
  }
}

TEST_F(TrainerTest, SumsAreReadEverySoManySteps) {
  const Reports expected = Train({"cpu"});
  const Reports actual = Train({"cuda_on_fake"});
  // The first lease has 40 steps, so one report before its end. Evaluations
  // report each batch.
  ASSERT_FALSE(actual.between.empty());
  EXPECT_EQ(actual.between[0].steps(), 32u);
  ExpectSame({actual.between[0]}, {expected.between[31]});
}

// The group is lost before the reading of step 32, or before the one at the end
// of the lease: the sums that are read then may be garbage.
TEST_F(TrainerTest, NothingIsReportedOfAGroupThatWasLost) {
  for (const int steps : {31, 39}) {
    SCOPED_TRACE(steps);
    const LosingGroup group(steps);
    RunOptions run = {"cuda_on_fake"};
    run.told_group = &group;
    const Reports reports = Train(run);
    EXPECT_EQ(reports.end.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(reports.between.size(), steps == 31 ? 0u : 1u);
    EXPECT_TRUE(reports.at_ends.empty());
  }
}

TEST_F(TrainerTest, EachStepIsReportedWhereStepsAreLogged) {
  const Reports expected = Train({"cpu", /*log_steps=*/true});
  const Reports actual = Train({"cuda_on_fake", /*log_steps=*/true, 4});
  EXPECT_EQ(actual.steps, expected.steps);
  EXPECT_EQ(actual.weights, expected.weights);
  ASSERT_EQ(actual.totals.size(), expected.totals.size());
  for (size_t i = 0; i < expected.totals.size(); ++i) {
    EXPECT_NEAR(actual.totals[i], expected.totals[i], 4e-4) << i;
  }
}

TEST_F(TrainerTest, LargeStatesComeAtTheEndsOfLeasesToTheLeaderAlone) {
  std::vector<std::unique_ptr<const Metric>> metrics;
  metrics.push_back(std::make_unique<LargeMetric>());
  for (const char* device : {"cpu", "reference", "cuda_on_fake"}) {
    SCOPED_TRACE(device);
    RunOptions run = {device};
    run.metrics = metrics;
    const Reports reports = Train(run);
    EXPECT_EQ(reports.most_pushed, 2);
    ASSERT_FALSE(reports.between.empty());
    for (const v1::LeaseReport& report : reports.between) {
      EXPECT_EQ(report.sums().states_size(), 2);
    }
    ASSERT_EQ(reports.at_ends.size(), 4u);
    for (const v1::LeaseReport& report : reports.at_ends) {
      ASSERT_EQ(report.sums().states_size(), 2 + kLarge);
      EXPECT_EQ(report.sums().states(1), report.examples());
      EXPECT_EQ(report.sums().states(2 + 9), 9.0 * report.steps());
    }
  }
}

class BadLossTest : public TrainerTest {
 protected:
  BadLossTest()
      : TrainerTest(
            "[Input: {shape: [6]}, Dense: {units: 7}, BatchNormalization: {},"
            " Dense: {units: 5}]") {}
};

// Sums are read every step on the CPU and where steps are logged, otherwise
// every 32 steps on the GPU, or 33 with 3 steps per execution.
TEST_F(BadLossTest, ReportsNameTheFirstStepWhoseLossIsNotFinite) {
  source_.Spoil(17);
  for (const RunOptions& run :
       {RunOptions{"cpu"}, RunOptions{"reference"}, RunOptions{"cuda_on_fake"},
        RunOptions{"cuda_on_fake", true},
        RunOptions{"cuda_on_fake", false, 3}}) {
    SCOPED_TRACE(absl::StrCat(run.device, " ", run.steps_per_execution));
    const Reports reports = Train(run);
    ASSERT_EQ(reports.at_ends.size(), 4u);
    EXPECT_EQ(reports.at_ends[0].first_nonfinite_step(), 5u);
    // From then on every training step has a bad loss. Evaluations do not
    // count.
    EXPECT_EQ(reports.at_ends[1].first_nonfinite_step(), 1u);
    EXPECT_EQ(reports.at_ends[2].first_nonfinite_step(), 0u);
    EXPECT_EQ(reports.at_ends[3].first_nonfinite_step(), 1u);
    for (const v1::LeaseReport& report : reports.between) {
      if (report.lease_id() != 1) continue;
      EXPECT_EQ(report.first_nonfinite_step(), report.steps() < 5 ? 0u : 5u);
    }
  }
}

TEST_F(BadLossTest, ReportsOfFiniteLossesNameNoStep) {
  for (const char* device : {"cpu", "reference", "cuda_on_fake"}) {
    const Reports reports = Train({device});
    ASSERT_EQ(reports.at_ends.size(), 4u) << device;
    for (const v1::LeaseReport& report : reports.at_ends) {
      EXPECT_EQ(report.first_nonfinite_step(), 0u) << device;
    }
  }
}

class GroupTrainerTest : public TrainerTest {
 protected:
  // No batch normalization, since each replica would normalize by its own
  // batch.
  GroupTrainerTest()
      : TrainerTest(
            "[Input: {shape: [6]}, Dense: {units: 7, activation: relu},"
            " Dense: {units: 5}]") {}

  // What the replicas reported, added up.
  std::vector<v1::LeaseReport> TrainGroup(int replicas,
                                          int steps_per_execution) {
    const std::string id = *MakeDeviceNamed("cuda_on_fake")->NewNcclId();
    std::vector<Reports> reports(replicas);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < replicas; ++rank) {
      threads.emplace_back([&, rank] {
        RunOptions run = {"cuda_on_fake", false, steps_per_execution};
        run.nccl_id = id;
        run.rank = rank;
        run.replicas = replicas;
        reports[rank] = Train(run);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<v1::LeaseReport> sums = reports.front().at_ends;
    for (int rank = 1; rank < replicas; ++rank) {
      for (size_t i = 0; i < sums.size(); ++i) {
        const v1::LeaseReport& report = reports[rank].at_ends[i];
        EXPECT_EQ(report.steps(), sums[i].steps());
        sums[i].set_examples(sums[i].examples() + report.examples());
        for (int value = 0; value < 4; ++value) {
          sums[i].mutable_sums()->set_states(
              value,
              sums[i].sums().states(value) + report.sums().states(value));
        }
      }
    }
    return sums;
  }
};

// In the last step of the second lease only two of three replicas have an
// example.
TEST_F(GroupTrainerTest, ReportsAddUpToThoseOfOne) {
  const Reports expected = Train({"cpu"});
  for (const int steps_per_execution : {1, 4}) {
    SCOPED_TRACE(steps_per_execution);
    ExpectSame(TrainGroup(3, steps_per_execution), expected.at_ends);
  }
}

}  // namespace
}  // namespace paceline
