#include "common/data_source/idx_stream.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/data_source/common_count.h"
#include "common/data_source/idx.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// The open files of several arrays.
using RowFiles = std::vector<IdxRows>;

absl::Status ReadRow(RowFiles& files, int64_t index,
                     std::vector<Elements>& out) {
  for (size_t i = 0; i < files.size(); ++i) {
    ASSIGN_OR_RETURN(out[i], files[i].Read(index));
  }
  return absl::OkStatus();
}

class StreamReader : public ExampleReader {
 public:
  explicit StreamReader(ByArray<IdxRows> files) : files_(std::move(files)) {
    example_.features.resize(files_.features.size());
    example_.labels.resize(files_.labels.size());
    example_.weights.resize(files_.weights.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    RETURN_IF_ERROR(ReadRow(files_.features, index, example_.features));
    RETURN_IF_ERROR(ReadRow(files_.labels, index, example_.labels));
    RETURN_IF_ERROR(ReadRow(files_.weights, index, example_.weights));
    return &example_;
  }

 private:
  ByArray<IdxRows> files_;
  Example example_;
};

Shape ShapeOfExample(const IdxHeader& header) {
  return Shape(header.shape.begin() + 1, header.shape.end());
}

// Opens the files of `arrays`, and checks that they still have `count` examples
// of the same types and shapes, since files may have been replaced.
absl::StatusOr<RowFiles> OpenFiles(const std::vector<ArraySpec>& arrays,
                                   int64_t count) {
  RowFiles files;
  for (const ArraySpec& array : arrays) {
    ASSIGN_OR_RETURN(IdxRows rows, IdxRows::Open(array.origin));
    const IdxHeader& header = rows.header();
    if (header.type != array.type || header.shape[0] != count ||
        ShapeOfExample(header) != array.shape) {
      return absl::FailedPreconditionError(absl::StrCat(
          array.origin, ": the header has changed since the job began"));
    }
    files.push_back(std::move(rows));
  }
  return files;
}

class IdxStream : public DataSource {
 public:
  IdxStream(ExampleSpec spec, int64_t count)
      : spec_(std::move(spec)), count_(count) {}

  const std::string& name() const override {
    return spec_.features.front().origin;
  }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return count_; }

  absl::Status CheckClassIds(size_t /*label*/,
                             const ClassIds& /*ids*/) const override {
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    ByArray<IdxRows> files;
    ASSIGN_OR_RETURN(files.features, OpenFiles(spec_.features, count_));
    ASSIGN_OR_RETURN(files.labels, OpenFiles(spec_.labels, count_));
    ASSIGN_OR_RETURN(files.weights, OpenFiles(spec_.weights, count_));
    return std::make_unique<StreamReader>(std::move(files));
  }

 private:
  const ExampleSpec spec_;
  const int64_t count_;
};

absl::Status Describe(std::vector<ArraySpec>& arrays, CommonCount& count) {
  for (ArraySpec& array : arrays) {
    ASSIGN_OR_RETURN(const IdxRows rows, IdxRows::Open(array.origin));
    const IdxHeader& header = rows.header();
    RETURN_IF_ERROR(count.Add(array.origin, header.shape));
    array.type = header.type;
    array.shape = ShapeOfExample(header);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxStream(
    ExampleSpec spec) {
  CHECK(!spec.features.empty());
  CommonCount count;
  RETURN_IF_ERROR(Describe(spec.features, count));
  RETURN_IF_ERROR(Describe(spec.labels, count));
  RETURN_IF_ERROR(Describe(spec.weights, count));
  return std::make_unique<IdxStream>(std::move(spec), count.count());
}

}  // namespace paceline
