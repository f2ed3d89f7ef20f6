// Common parts of the pipeline's tests.
#ifndef PACELINE_TESTS_UNIT_DATA_PIPELINE_TESTING_H_
#define PACELINE_TESTS_UNIT_DATA_PIPELINE_TESTING_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "worker/data/batch_pipeline.h"

namespace paceline {

// Far longer than anything here takes.
inline constexpr absl::Duration kLong = absl::Seconds(60);

// Examples of two bytes: example i has features {i, 2·i} and label i mod 10.
class CountingSource : public DataSource {
 public:
  explicit CountingSource(int64_t count, Shape shape = {2})
      : spec_{{{"", "counting", ElementType::kUint8, std::move(shape)}},
              {{"", "labels", ElementType::kFloat32, {}}}} {
    for (int64_t i = 0; i < count; ++i) {
      features_.push_back(static_cast<std::byte>(i));
      features_.push_back(static_cast<std::byte>(2 * i));
      labels_.push_back(static_cast<float>(i % 10));
    }
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

  // The example cannot be read.
  void Break(int64_t index) { broken_.insert(index); }
  void set_label(int64_t index, float label) { labels_[index] = label; }

 private:
  class Reader : public ExampleReader {
   public:
    explicit Reader(const CountingSource& source) : source_(source) {}

    absl::StatusOr<const Example*> Read(int64_t index) override {
      if (source_.broken_.contains(index)) {
        return absl::DataLossError("broken");
      }
      example_.features[0] = {ElementType::kUint8,
                              &source_.features_[2 * index], 2};
      example_.labels[0] = {
          ElementType::kFloat32,
          reinterpret_cast<const std::byte*>(&source_.labels_[index]), 1};
      return &example_;
    }

   private:
    const CountingSource& source_;
    Example example_ = {.features = std::vector<Elements>(1),
                        .labels = std::vector<Elements>(1)};
  };

  const std::string name_ = "counting";
  const ExampleSpec spec_;
  std::vector<std::byte> features_;
  std::vector<float> labels_;
  std::set<int64_t> broken_;
};

inline v1::Lease MakeLease(uint64_t id, uint64_t begin, uint64_t end,
                           uint32_t epoch = 0,
                           v1::Phase phase = v1::PHASE_TRAIN) {
  v1::Lease lease;
  lease.set_id(id);
  lease.set_phase(phase);
  lease.set_epoch(epoch);
  lease.set_begin(begin);
  lease.set_end(end);
  return lease;
}

// A lease source that gives `leases` and then ends.
inline BatchPipeline::LeaseSource GiveLeases(std::deque<v1::Lease> leases) {
  return [leases]() mutable -> absl::StatusOr<std::optional<v1::Lease>> {
    if (leases.empty()) return std::nullopt;
    v1::Lease lease = leases.front();
    leases.pop_front();
    return lease;
  };
}

inline PipelineOptions TrainOptions(const DataSource& source,
                                    int64_t batch_size) {
  PipelineOptions options;
  options.phases[v1::PHASE_TRAIN] = {.source = &source,
                                     .order = {.count = source.example_count()},
                                     .step_size = batch_size};
  options.model = {{{"pixels", {2}}}, {{"digit", {}, {.count = 10}}}};
  return options;
}

template <typename T>
std::vector<T> Values(const std::byte* data, int64_t count) {
  const T* values = reinterpret_cast<const T*>(data);
  return {values, values + count};
}

// The batches' first values as [lease, begin, count], how many examples their
// leases have skipped, and all labels.
struct Drained {
  std::vector<std::vector<int64_t>> batches;
  std::vector<int64_t> skipped;
  std::vector<float> features;
  std::vector<int32_t> labels;
  absl::Status status;
};

inline Drained Drain(BatchPipeline& pipeline) {
  Drained drained;
  while (!pipeline.has_ended()) {
    const auto batch = pipeline.Next(kLong);
    if (!batch.ok()) {
      drained.status = batch.status();
      return drained;
    }
    if (*batch == nullptr) continue;
    const PreparedBatch& b = **batch;
    drained.batches.push_back(
        {static_cast<int64_t>(b.lease.id()), b.begin, b.count});
    drained.skipped.push_back(b.skipped_of_lease);
    for (const float value : Values<float>(b.features[0].data, 2 * b.count)) {
      drained.features.push_back(value);
    }
    for (const int32_t label : Values<int32_t>(b.labels[0].data, b.count)) {
      drained.labels.push_back(label);
    }
    pipeline.Release(*batch);
  }
  return drained;
}

inline std::unique_ptr<BatchPipeline> MakePipeline(
    const PipelineOptions& options, BatchPipeline::LeaseSource leases) {
  auto pipeline = BatchPipeline::Create(options, std::move(leases));
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return *std::move(pipeline);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DATA_PIPELINE_TESTING_H_
